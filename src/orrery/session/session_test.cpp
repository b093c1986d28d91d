// The facade, on the tree's own machines, libraries and models.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "orrery/report/by_kind.h"
#include "orrery/session/advice.h"
#include "orrery/session/files.h"
#include "orrery/session/validation_report.h"

namespace orrery::session {
namespace {

using ::testing::HasSubstr;

Session here() {
  return Session({.home = ORRERY_SOURCE_DIR});
}

/// A folder that is gone when the test ends.
class Folder {
 public:
  Folder() {
    std::string path = ::testing::TempDir() + "orrery_session_XXXXXX";
    path_ = ::mkdtemp(path.data());
  }

  ~Folder() { std::filesystem::remove_all(path_); }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string put(const std::string& name, std::string_view text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

ModelRequest llama() {
  return {.model = "llama-3.1-8b", .machine = "h200", .batch = 32, .context = 1024};
}

TEST(Session, PredictsADecodeStep) {
  const auto prediction = here().predict(llama());
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  const plan::Estimate& total = prediction->time.total;
  // The weights alone, 15 GB without the embedding's table, need 3.1 ms at 4.8 TB/s.
  EXPECT_GT(total.time, Duration::from(Seconds(3.1e-3)));
  EXPECT_LT(total.time, Duration::from(Seconds(20e-3)));
  EXPECT_LT(total.low, total.time);
  EXPECT_GT(total.high, total.time);
  EXPECT_EQ(prediction->tokens, 32);
  EXPECT_TRUE(prediction->fit.fits);
  // 8.03 billion parameters of 2 bytes; 32 x 1024 tokens x 32 layers x 2 x 8 heads x 128 x 2 bytes
  EXPECT_NEAR(prediction->plan.memory.weights.value(), 16.06e9, 0.01e9);
  EXPECT_EQ(prediction->plan.memory.cache, Bytes(32.0 * 1024 * 32 * 2 * 8 * 128 * 2));
}

TEST(Session, TimeOfALayerCountsOncePerLayer) {
  const auto prediction = here().predict(llama());
  ASSERT_TRUE(prediction.ok());
  Duration sum = Duration::zero();
  for (size_t i = 0; i < prediction->plan.steps.size(); ++i) {
    const int64_t times = prediction->plan.steps[i].times;
    EXPECT_TRUE(times == 1 || times == 32);
    EXPECT_EQ(prediction->time.steps[i].total, prediction->time.steps[i].once.time * times);
    sum += prediction->time.steps[i].total;
  }
  EXPECT_EQ(sum, prediction->time.device);
}

TEST(Session, EagerIsTheSlowerOfHostAndDevice) {
  ModelRequest request = llama();
  request.runtime = "eager";
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  EXPECT_EQ(prediction->time.total.time, max(prediction->time.host, prediction->time.device));
  EXPECT_GT(prediction->time.host, Duration::zero());
}

TEST(Session, AnOperatorsHostTimeCanBeGiven) {
  ModelRequest request = llama();
  request.runtime = "eager";
  request.host_launch_us = 1000;
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  EXPECT_GT(prediction->time.host, Duration::from(Seconds(0.7))) << "some 740 operators";
}

TEST(Session, FusionSavesLaunchesAndTime) {
  Duration before = Duration::max();
  for (const char* runtime : {"graph", "inductor", "fused"}) {
    ModelRequest request = llama();
    request.runtime = runtime;
    const auto prediction = here().predict(request);
    ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
    EXPECT_LT(prediction->time.total.time, before) << runtime;
    before = prediction->time.total.time;
  }
}

TEST(Session, GpusThatShareAModelEachHoldAPart) {
  ModelRequest request = llama();
  const auto one = here().predict(request);
  request.tp = 2;
  const auto two = here().predict(request);
  ASSERT_TRUE(two.ok()) << two.error().to_string();
  EXPECT_EQ(two->plan.memory.cache, 0.5 * one->plan.memory.cache) << "half of the key heads each";
  EXPECT_LT(two->time.total.time, one->time.total.time);
}

TEST(Session, AMixedStepReadsEachSequencesOwnCache) {
  ModelRequest request = llama();
  request.phase = "mixed";
  request.batch = 1;
  request.context = {};
  request.requests = "1x512@1024,64x1@1024";
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  EXPECT_EQ(prediction->tokens, 512 + 64);
  const double keys = 512 + 1024 + 64 * 1025;
  EXPECT_EQ(prediction->plan.memory.cache, Bytes(keys * 32 * 2 * 8 * 128 * 2));
}

TEST(Session, AdviceIsPredictedAndOrderedByGain) {
  ModelRequest request = llama();
  request.advice = true;
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  ASSERT_TRUE(prediction->advice);
  ASSERT_FALSE(prediction->advice->helps.empty());
  EXPECT_LE(prediction->advice->helps.size(), 3U);
  for (size_t i = 1; i < prediction->advice->helps.size(); ++i) {
    EXPECT_GE(prediction->advice->helps[i - 1].gain, prediction->advice->helps[i].gain);
  }
}

TEST(Session, AdviceForWhatDoesNotFitNamesWhatDoes) {
  ModelRequest request{.model = "llama-3.1-70b", .machine = "h200", .batch = 8, .context = 4096};
  request.advice = true;
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  ASSERT_FALSE(prediction->fit.fits);
  bool any = false;
  for (const report::Help& help : prediction->advice->helps) {
    EXPECT_NE(help.price, report::Price::Latency) << help.change;  // a larger batch fits still less
    any = any || help.change.ends_with(", which fits");
  }
  EXPECT_TRUE(any);
}

// 16384 tokens in chunks of 8192: two sequences a prompt.
TEST(Session, PromptsLongerThanAChunkArePredicted) {
  const auto prediction = here().predict(ModelRequest{
      .model = "llama-4-scout", .machine = "h200", .phase = "prefill", .seq = 16384, .tp = 8});
  EXPECT_TRUE(prediction.ok()) << prediction.error().to_string();
}

TEST(Session, TooLargeABatchSaysWhatWouldFit) {
  ModelRequest request = llama();
  request.batch = 4096;
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  EXPECT_FALSE(prediction->fit.fits);
  request.batch = prediction->fit.largest_batch;
  EXPECT_TRUE(here().predict(request)->fit.fits);
  ++request.batch;
  EXPECT_FALSE(here().predict(request)->fit.fits);
}

TEST(Session, WrongSizesAreErrors) {
  const auto message = [](const ModelRequest& request) {
    const auto prediction = here().predict(request);
    return prediction.ok() ? "" : prediction.error().message;
  };
  ModelRequest request = llama();
  request.batch = 0;
  EXPECT_THAT(message(request), HasSubstr("batch: got 0, need 1 to"));
  request = llama();
  request.seq = 7;
  EXPECT_THAT(message(request), HasSubstr("seq: does not belong to decode"));
  request = llama();
  request.context = int64_t{1} << 40;
  EXPECT_THAT(message(request), HasSubstr("context: got"));
  request = llama();
  request.batch = 1 << 19;
  request.context = 1 << 25;
  EXPECT_THAT(message(request), HasSubstr("batch x tokens: got"));
  request = llama();
  request.runtime = "orrery";
  EXPECT_THAT(message(request), HasSubstr("arrives later"));
  request = llama();
  request.tp = 3;
  EXPECT_THAT(message(request), HasSubstr("tp: got 3 for 32 heads"));
  request = llama();
  request.phase = "mixed";
  EXPECT_THAT(message(request), HasSubstr("mixed: got no requests"));
  request = llama();
  request.usable_memory = 0;
  EXPECT_THAT(message(request), HasSubstr("usable memory: got 0"));
  request = llama();
  request.passes_off = {"nothing"};
  EXPECT_THAT(message(request), HasSubstr("[passes.runner] pass: got 'nothing'"));
}

TEST(Session, EveryListedModelPredictsBothPhases) {
  const Session session = here();
  for (const std::string& model : session.catalog().models()) {
    for (const char* phase : {"prefill", "decode"}) {
      const auto prediction =
          session.predict(ModelRequest{.model = model, .machine = "h200", .phase = phase});
      // An encoder makes no tokens one by one, and says so.
      const bool refused = std::string_view(phase) == "decode" && !prediction.ok() &&
                           prediction.error().message.find("is an encoder") != std::string::npos;
      EXPECT_TRUE(prediction.ok() || refused)
          << model << ": " << (prediction.ok() ? "" : prediction.error().to_string());
    }
  }
}

TEST(Session, EveryListedOperatorPredicts) {
  for (const Operator& op : operators()) {
    std::vector<std::string> arguments;
    for (const Key& key : op.keys) {
      if (key.preset.empty()) {
        arguments.push_back(std::string(key.name) + (key.name == "kind" ? "=gated_delta" : "=64"));
      }
    }
    const auto prediction = here().predict(
        CallRequest{.op = std::string(op.name), .arguments = arguments, .machine = "h200"});
    EXPECT_TRUE(prediction.ok()) << op.name << ": " << prediction.error().to_string();
  }
}

TEST(Catalog, NamesIgnoreCaseAndMarks) {
  const Session session = here();
  EXPECT_EQ(session.catalog().machine("H200_sxm")->id, "h200-sxm");
  EXPECT_EQ(session.catalog().model("LLAMA_3.1_8B")->name, "llama-3.1-8b");
}

TEST(Catalog, UnknownNamesSuggest) {
  const Session session = here();
  EXPECT_THAT(session.catalog().machine("h20").error().message, HasSubstr("did you mean 'h200'"));
  EXPECT_THAT(session.catalog().model("llama-3.1-8").error().message,
              HasSubstr("did you mean 'llama-3.1-8b'"));
}

TEST(Catalog, MachineOutsideOfTheTreeWorksByFolderAndByPath) {
  const Folder folder;
  std::string text = *read_file(std::string(ORRERY_SOURCE_DIR) + "/machines/h200-sxm.toml");
  text.replace(text.find("\"h200-sxm\""), 10, "\"my-chip\"");
  const std::string path = folder.put("my-chip.toml", text);
  const Session session({.home = ORRERY_SOURCE_DIR, .machine_folders = {folder.path()}});
  EXPECT_EQ(session.catalog().machine("my_chip")->id, "my-chip");
  ModelRequest request = llama();
  request.machine = path;
  EXPECT_TRUE(here().predict(request).ok());
}

TEST(Catalog, BrokenMachineFileIsReportedButHidesNoOther) {
  const Folder folder;
  folder.put("broken.toml", "this is no machine");
  const Session session({.home = ORRERY_SOURCE_DIR, .machine_folders = {folder.path()}});
  EXPECT_TRUE(session.catalog().machine("h200").ok());
  EXPECT_FALSE(session.catalog().machine("broken").ok());
}

TEST(Catalog, TwoFilesOfOneFolderMayNotAnswerToOneName) {
  const Folder folder;
  const std::string text = *read_file(std::string(ORRERY_SOURCE_DIR) + "/machines/h200-sxm.toml");
  folder.put("one.toml", text);
  const Session own({.home = ORRERY_SOURCE_DIR, .machine_folders = {folder.path()}});
  EXPECT_TRUE(own.catalog().machine("h200").ok());  // comes before the tree's
  folder.put("two.toml", text);
  const auto machine = own.catalog().machine("h200");
  ASSERT_FALSE(machine.ok());
  EXPECT_THAT(machine.error().message, HasSubstr("two.toml for 'h200', need one"));
}

TEST(Catalog, ABrokenFileOfTheNameAskedForIsTheOneMeant) {
  const Folder folder;
  const std::string text = *read_file(std::string(ORRERY_SOURCE_DIR) + "/machines/h200-sxm.toml");
  const Session own({.home = ORRERY_SOURCE_DIR, .machine_folders = {folder.path()}});
  folder.put("h200.toml", "id = \"other\"\n");
  EXPECT_THAT(own.catalog().machine("h200").error().message, HasSubstr("/h200.toml: "))
      << "not the tree's, silently";
  folder.put("h200.toml", text.substr(0, text.size() / 2));
  EXPECT_FALSE(own.catalog().machine("h200").ok());
  EXPECT_TRUE(own.catalog().machine("h200-sxm").ok());  // the tree's, by its own name
  folder.put("h200.toml", text);
  EXPECT_TRUE(own.catalog().machine("h200").ok());
}

TEST(Operators, ReportEverythingThatIsWrong) {
  const std::vector<std::string> arguments = {"m=0", "n=-5", "kk=3", "m=7", "dtype=bf17", "x"};
  EXPECT_EQ(
      parse_call("gemm", arguments).error().message,
      "[session.operators] gemm: kk: not an argument, need m, n, k, batch, layout, dtype, backend, "
      "kernel, quantise; did you mean 'k'?; m: given twice; got 'x', need key=value; k: got none, "
      "need "
      "columns of both: input features; m: got '0', need 1 to 4294967296; n: got '-5', need 1 to "
      "4294967296; dtype: got 'bf17', need one of bf16, fp16, fp8, fp8_block, int8, int8_sq, "
      "w4a16, w8a16, mxfp4, nvfp4, tf32, fp32");
}

TEST(Operators, HugeTensorsAreRefused) {
  const std::vector<std::string> arguments = {"m=4294967296", "n=4294967296", "k=4294967296"};
  EXPECT_THAT(parse_call("gemm", arguments).error().message,
              HasSubstr("C: got 1.84e+19 elements, need at most 2^48"));
}

// 2 x 2^72 FLOP: some years, more than a Duration holds.
TEST(Operators, ATimeWithoutMeaningIsAnError) {
  const auto prediction = here().predict(CallRequest{
      .op = "gemm", .arguments = {"m=16777216", "n=16777216", "k=16777216"}, .machine = "h200"});
  ASSERT_FALSE(prediction.ok());
  EXPECT_NE(prediction.error().message.find("need smaller sizes"), std::string::npos)
      << prediction.error().message;
}

TEST(Advice, PadsARowThatBreaksALayout) {
  CallRequest request{
      .op = "gemm", .arguments = {"m=4096", "n=4100", "k=4096"}, .machine = "h200", .advice = true};
  const auto prediction = here().predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  ASSERT_TRUE(prediction->advice);
  EXPECT_GT(prediction->advice->tried, 3);
  for (const report::Help& help : prediction->advice->helps) {
    EXPECT_GE(help.gain, kWorth) << help.change;
    EXPECT_LT(help.gain, 1) << help.change;
  }
  request.advice = false;
  EXPECT_FALSE(here().predict(request)->advice);
}

// What it says is what asking again says.
TEST(Advice, NamesTheTimeOfTheChangedCall) {
  const auto prediction = here().predict(CallRequest{
      .op = "softmax", .arguments = {"rows=4096", "cols=4097"}, .machine = "h200", .advice = true});
  ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
  for (const report::Help& help : prediction->advice->helps) {
    const std::string change = help.change.substr(0, help.change.find(' '));
    const std::string key = change.substr(0, change.find('=') + 1);
    std::vector<std::string> arguments;
    for (const std::string argument : {"rows=4096", "cols=4097"}) {
      arguments.push_back(argument.starts_with(key) ? change : argument);
    }
    if (key == "dtype=") {
      arguments.push_back(change);
    }
    const auto again =
        here().predict(CallRequest{.op = "softmax", .arguments = arguments, .machine = "h200"});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->time.once.time, help.time) << help.change;
  }
}

// A machine file whose clock stands still is refused, not believed "forever".
TEST(Operators, AMachineOfAbsurdNumbersIsRefused) {
  const Folder folder;
  std::string text = *read_file(std::string(ORRERY_SOURCE_DIR) + "/machines/h200-sxm.toml");
  const size_t at = text.find("max = { value = 1980");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 20, "max = { value = 1e-300");
  const auto prediction = here().predict(CallRequest{.op = "gemm",
                                                     .arguments = {"m=64", "n=64", "k=64"},
                                                     .machine = folder.put("slow.toml", text)});
  ASSERT_FALSE(prediction.ok());
  EXPECT_THAT(prediction.error().message, HasSubstr("clock.max"));
  EXPECT_THAT(prediction.error().message, HasSubstr("got 1e-300, need 1 to 1e+06 MHz"));
}

TEST(Operators, PresetMayNameAnotherArgument) {
  const std::vector<std::string> arguments = {"batch=2", "heads=8", "seq_q=16"};
  const auto call = std::get<library::AttentionCall>(*parse_call("attention", arguments));
  EXPECT_EQ(call.kv_heads, 8);
  EXPECT_EQ(call.seq_kv, 16);
}

TEST(Tune, RanksConfigurationsAndEmitsTheBest) {
  const TuneRequest request{.op = "gemm",
                            .arguments = {"m=4096", "n=4096", "k=4096"},
                            .machine = "h200",
                            .top = 3,
                            .target = "cuda"};
  const auto tuning = here().tune(request);
  ASSERT_TRUE(tuning.ok()) << tuning.error().to_string();
  ASSERT_EQ(tuning->best.size(), 3U);
  EXPECT_LE(tuning->best[0].estimate.time, tuning->best[1].estimate.time);
  EXPECT_LE(tuning->best[1].estimate.time, tuning->best[2].estimate.time);
  ASSERT_EQ(tuning->sources.size(), tuning->best[0].programs.size());
  EXPECT_THAT(tuning->sources[0].code, HasSubstr(tuning->sources[0].entry));
}

TEST(Tune, SourceIsOfTheMachinesKind) {
  TuneRequest request{.op = "add_rms_norm",
                      .arguments = {"rows=64", "cols=4096"},
                      .machine = "mi300x",
                      .target = "cuda"};
  EXPECT_THAT(here().tune(request).error().message, HasSubstr("got cuda for a program of gfx942"));
  for (const char* target : {"hip", "cpu", "text"}) {
    request.target = target;
    const auto tuning = here().tune(request);
    EXPECT_TRUE(tuning.ok()) << target << ": " << tuning.error().to_string();
  }
}

constexpr std::string_view kModels = R"({"models": {"small": {"hidden": 2048, "intermediate": 8192,
  "heads": 32, "kv_heads": 8, "head_dim": 64, "vocab": 128256, "layers": 16}}})";

TEST(Validate, EveryRowComesBackInOrder) {
  const Folder folder;
  folder.put("models.json", kModels);
  const std::string csv = folder.put("models.csv",
                                     "model,layers,mode,phase,batch,seq_q,context,latency_us,note\n"
                                     "small-4L,4,eager_graph,decode,1,1,2049,503.2,\"a, b\"\n"
                                     "resnet,50,eager_graph,forward,1,224,224,863.2,\n"
                                     "small,16,eager_graph,prefill,1,128,128,,\n"
                                     "small,16,eager_graph,decode,0,1,128,1,\n");
  const std::string out = folder.path() + "/predictions.csv";
  const auto files = here().validate({.files = {csv}, .machine = "h200", .out = out});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  const auto table = validate::parse_csv(*read_file(out), out);
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->rows.size(), 4U);
  EXPECT_EQ(table->rows[0][8], "a, b");
  EXPECT_NE(table->rows[0][9], "");
  EXPECT_EQ(table->rows[0][13], "");
  EXPECT_THAT(table->rows[1][13], HasSubstr("got 'resnet'"));
  EXPECT_NE(table->rows[2][9], "") << "predicted though nothing was measured";
  EXPECT_THAT(table->rows[3][13], HasSubstr("batch: got '0'"));
  EXPECT_EQ((*files)[0].validation.predicted, 2);
  EXPECT_EQ((*files)[0].validation.compared.size(), 1U);
}

TEST(Validate, TableOfNoKnownKindIsRefused) {
  const Folder folder;
  const std::string csv = folder.put("odd.csv", "a,b\n1,2\n");
  const auto files = here().validate({.files = {csv}, .machine = "h200"});
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.error().message, HasSubstr("no known kind"));
}

// A list that no row asks for does not matter, whatever stands in it.
TEST(Validate, ModelsBesideATableAreReadForModelsAlone) {
  const Folder folder;
  folder.put("models.json", "{bad");
  const std::string gemm = folder.put("gemm.csv", "dtype,batch,m,n,k,family\nbf16,1,8,8,8,x\n");
  EXPECT_TRUE(here().validate({.files = {gemm}, .machine = "h200"}).ok());
  const std::string models = folder.put("models.csv",
                                        "model,mode,phase,batch,seq_q,context\n"
                                        "small,eager_graph,decode,1,1,2049\n");
  const auto files = here().validate({.files = {models}, .machine = "h200"});
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.error().message, HasSubstr("models.json"));
}

TEST(Validate, WhatIsWrongWithRowsNamesTheFirstLine) {
  const Folder folder;
  const std::string csv = folder.put("gemm.csv",
                                     "dtype,batch,m,n,k,family\nbf16,1,8,8,8,x\n\n"
                                     "bf16,1,8,8,0,x\nbf16,1,8,8,-1,x\nbf16,1,8,8,0,x\n");
  const auto files = here().validate({.files = {csv}, .machine = "h200"});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  const std::string text = to_text(*files);
  EXPECT_THAT(text, HasSubstr("not predicted, 2 rows from line 4: [validate.fields] k: got '0'"));
  EXPECT_THAT(text, HasSubstr("not predicted, line 5: [validate.fields] k: got '-1'"));
}

TEST(Validate, NeverOverwritesTheMachine) {
  const Folder folder;
  const std::string csv = folder.put("gemm.csv", "dtype,batch,m,n,k,family\nbf16,1,8,8,8,x\n");
  const std::string toml = *read_file(std::string(ORRERY_SOURCE_DIR) + "/machines/h200-sxm.toml");
  const std::string machine = folder.put("mine.toml", toml);
  const std::string list = folder.put("models.json", std::string(kModels));
  for (const std::string& out : {machine, list}) {
    const auto files = here().validate({.files = {csv}, .machine = machine, .out = out});
    ASSERT_FALSE(files.ok());
    EXPECT_THAT(files.error().message, HasSubstr("need another place than the input"));
  }
}

TEST(Validate, NeverOverwritesItsInput) {
  const Folder folder;
  const std::string csv = folder.put("gemm.csv", "dtype,batch,m,n,k,family\nbf16,1,8,8,8,x\n");
  for (const std::string& out : {csv, folder.path()}) {
    const auto files = here().validate({.files = {csv}, .machine = "h200", .out = out});
    ASSERT_FALSE(files.ok());
    EXPECT_THAT(files.error().message, HasSubstr("need another place than the input"));
  }
}

TEST(Validate, AnotherWayToTheInputIsStillTheInput) {
  const Folder folder;
  const std::string csv = folder.put("gemm.csv", "dtype,batch,m,n,k,family\nbf16,1,8,8,8,x\n");
  const std::string roundabout =
      folder.path() + "/../" + folder.path().substr(folder.path().rfind('/') + 1);
  for (const std::string& out : {roundabout, roundabout + "/gemm.csv"}) {
    const auto files = here().validate({.files = {csv}, .machine = "h200", .out = out});
    ASSERT_FALSE(files.ok()) << out;
    EXPECT_THAT(files.error().message, HasSubstr("need another place than the input"));
  }
}

TEST(Validate, ATimeNoComputerHasIsNamedAndNotScored) {
  const Folder folder;
  const std::string csv = folder.put("gemm.csv",
                                     "dtype,batch,m,n,k,family,latency_us\n"
                                     "bf16,1,64,64,64,x,1e-300\n"
                                     "bf16,1,64,64,64,x,abc\n"
                                     "bf16,1,64,64,64,x,-1\n"
                                     "bf16,1,64,64,64,x,2.5\n");
  const auto files = here().validate({.files = {csv}, .machine = "h200"});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  const auto& validation = (*files)[0].validation;
  EXPECT_EQ(validation.predicted, 4);
  EXPECT_EQ(validation.compared.size(), 1U);
  for (const size_t row : {0U, 1U, 2U}) {
    EXPECT_THAT(validation.table.rows[row].back(), HasSubstr("latency_us: got"));
  }
}

TEST(Validate, MeasuredDecodersAreWithinEightPercent) {
  const std::string csv = std::string(ORRERY_SOURCE_DIR) + "/test/validation/models.csv";
  const auto files = here().validate({.files = {csv}, .machine = "h200"});
  ASSERT_TRUE(files.ok()) << files.error().to_string();
  double sum = 0;
  int64_t rows = 0;
  for (const validate::Score& score : (*files)[0].scores) {
    if (score.family.starts_with("eager_graph")) {
      sum += score.mean * static_cast<double>(score.rows);
      rows += score.rows;
    }
  }
  EXPECT_EQ(rows, 47) << "every decoder measured in a CUDA graph";
  EXPECT_LE(sum / static_cast<double>(rows), 0.08);
}

TEST(Session, AFolderWithAConfigIsAModelOfItsName) {
  const Folder folder;
  const std::string downloaded = folder.path() + "/qwen-2.5";
  std::filesystem::create_directory(downloaded);
  const auto text = read_file(std::string(ORRERY_SOURCE_DIR) + "/models/llama-3.2-1b.json");
  ASSERT_TRUE(text.ok());
  folder.put("qwen-2.5/config.json", *text);
  for (const std::string& path : {downloaded, downloaded + "/", downloaded + "/config.json"}) {
    const auto model = here().catalog().model(path);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    EXPECT_EQ(model->name, "qwen-2.5");
  }
  const auto plain = here().catalog().model(downloaded);
  folder.put("qwen-2.5/hf_quant_config.json", R"({"quantization": {"quant_algo": "FP8"}})");
  const auto quantised = here().catalog().model(downloaded);
  ASSERT_TRUE(quantised.ok()) << quantised.error().to_string();
  const auto scheme = [](const frontend::Model& model) {
    return model.stack.groups[0].body[0].precision[0].scheme;
  };
  EXPECT_EQ(scheme(*plain), graph::Scheme::None);
  EXPECT_EQ(scheme(*quantised), graph::Scheme::Tensor);
  EXPECT_FALSE(here().catalog().model(folder.path()).ok());  // a folder without one
}

// Downloaded models are folders of links; what waits for a writer is no file.
TEST(Session, FilesOfAModelMayBeLinksAndMustBeFiles) {
  const Folder folder;
  const auto text = read_file(std::string(ORRERY_SOURCE_DIR) + "/models/llama-3.2-1b.json");
  folder.put("blob", *text);
  const std::string model = folder.path() + "/model";
  std::filesystem::create_directory(model);
  std::filesystem::create_symlink("../blob", model + "/config.json");
  EXPECT_TRUE(here().catalog().model(model).ok());
  ASSERT_EQ(mkfifo((model + "/hf_quant_config.json").c_str(), 0600), 0);
  const auto piped = here().catalog().model(model);
  ASSERT_FALSE(piped.ok());
  EXPECT_THAT(piped.error().message, HasSubstr("got a pipe, need a regular file"));
  EXPECT_FALSE(here().catalog().model(model + "/hf_quant_config.json").ok());
  EXPECT_FALSE(
      here().validate({.files = {model + "/hf_quant_config.json"}, .machine = "h200"}).ok());
}

// The pointwise kernels of an encoder hand their results on in L2: no DRAM time is charged for
// them.
TEST(Session, NothingIsFasterThanItsLimit) {
  for (const char* machine : {"l40s", "h200", "mi300x", "rtx-pro-6000"}) {
    for (const int64_t batch : {1, 32}) {
      const auto prediction = here().predict(ModelRequest{
          .model = "vit-base", .machine = machine, .phase = "prefill", .batch = batch});
      ASSERT_TRUE(prediction.ok()) << prediction.error().to_string();
      for (const report::KindTime& kind :
           report::by_kind(prediction->plan, prediction->time, prediction->setting.limits)) {
        EXPECT_LE(kind.least, kind.time) << machine << ' ' << batch << ' ' << kind.kind;
      }
    }
  }
}

}  // namespace
}  // namespace orrery::session
