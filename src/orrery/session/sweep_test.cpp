// Sweeps on the tree's own machines and models, and predictions that remember.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/report/predict_report.h"
#include "orrery/session/predictor.h"
#include "orrery/session/session.h"

namespace orrery::session {
namespace {

using ::testing::HasSubstr;

Session here() {
  return Session({.home = ORRERY_SOURCE_DIR});
}

SweepRequest llama(size_t threads) {
  return {.subject = "llama-3.2-1b",
          .machines = {"h100", "h200"},
          .options = {{"phase", "decode"}, {"batch", "1..40"}, {"context", "128,1024"}},
          .threads = threads};
}

std::string error_of(const SweepRequest& request) {
  const auto sweep = here().sweep(request);
  return sweep.ok() ? "" : sweep.error().to_string();
}

TEST(Sweep, IsTheSameOnOneThreadAndOnThree) {
  const auto alone = here().sweep(llama(1));
  const auto crew = here().sweep(llama(3));
  ASSERT_TRUE(alone.ok()) << alone.error().to_string();
  ASSERT_TRUE(crew.ok()) << crew.error().to_string();
  EXPECT_EQ(report::to_csv(*alone), report::to_csv(*crew));
}

TEST(Sweep, EachPointIsWhatPredictSays) {
  const auto sweep = here().sweep(llama(2));
  ASSERT_TRUE(sweep.ok()) << sweep.error().to_string();
  ASSERT_EQ(sweep->points.size(), 160U);  // 2 machines x 40 batches x 2 contexts
  // The second machine's batch 40 and context 1024 are the last point.
  const auto last = here().predict(
      ModelRequest{.model = "llama-3.2-1b", .machine = "h200", .batch = 40, .context = 1024});
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(sweep->points.back().time, last->time.total.time);
  EXPECT_EQ(sweep->settings.back().machine, "h200-sxm");
}

TEST(Sweep, OperatorsTakeListsOfWords) {
  const auto sweep = here().sweep(
      {.subject = "gemm",
       .machines = {"h200"},
       .options = {{"m", "64..256x2"}, {"n", "4096"}, {"k", "4096"}, {"dtype", "bf16,fp8"}}});
  ASSERT_TRUE(sweep.ok()) << sweep.error().to_string();
  EXPECT_EQ(sweep->points.size(), 6U);
  EXPECT_EQ(sweep->fixed.size(), 2U);
}

TEST(Sweep, ListsThatArgumentsAreByNatureAreNoAxes) {
  EXPECT_FALSE(is_sweep({.subject = "attention", .machines = {}, .options = {{"lengths", "5,7"}}}));
  EXPECT_TRUE(is_sweep({.subject = "attention", .machines = {}, .options = {{"heads", "8,16"}}}));
}

TEST(Sweep, WhatNoPointCanHaveIsAnErrorOfTheQuestion) {
  SweepRequest request = llama(1);
  request.options[1].second = "0..4";
  EXPECT_THAT(error_of(request), HasSubstr("--batch: got '0'"));
  request.options[1].second = "1..4";
  request.machines = {"h200", "h201"};
  EXPECT_THAT(error_of(request), HasSubstr("got 'h201'"));
  request.machines = {"h200", "h200-sxm"};
  EXPECT_THAT(error_of(request), HasSubstr("twice"));
  request.machines = {};
  EXPECT_THAT(error_of(request), HasSubstr("need one or more"));
  request.machines = {"h200"};
  request.options[1].second = "1..100000";
  request.options[2].second = "1..100";
  EXPECT_THAT(error_of(request), HasSubstr("need at most 1000000"));
}

TEST(Sweep, NamesThatNoPointCanHaveAreErrorsOfTheQuestion) {
  const std::pair<const char*, const char*> wrong[] = {{"weights", "int4,fp99"},
                                                       {"activations", "bf16,fp99"},
                                                       {"kv-cache", "fp8,fp99"},
                                                       {"engine", "vllm,foo"},
                                                       {"runtime", "graph,foo"},
                                                       {"phase", "decode,train"}};
  for (const auto& [name, values] : wrong) {
    const std::string last = std::string(values).substr(std::string(values).find(',') + 1);
    EXPECT_THAT(
        error_of({.subject = "llama-3.2-1b", .machines = {"h200"}, .options = {{name, values}}}),
        HasSubstr("got '" + last + "'"))
        << name;
  }
  EXPECT_THAT(error_of({.subject = "llama-3.2-1b", .machines = {"h200"}, .state = "burst,slow"}),
              HasSubstr("got 'slow'"));
}

TEST(Sweep, TheClockIsAnAxis) {
  const auto sweep = here().sweep({.subject = "llama-3.2-1b",
                                   .machines = {"h200"},
                                   .options = {{"phase", "prefill"}, {"seq", "4096"}},
                                   .state = "burst,steady"});
  ASSERT_TRUE(sweep.ok()) << sweep.error().to_string();
  ASSERT_EQ(sweep->points.size(), 2U);
  EXPECT_LT(sweep->points[0].time, sweep->points[1].time);
  const auto gemm = here().sweep({.subject = "gemm",
                                  .machines = {"h200"},
                                  .options = {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}},
                                  .state = "burst,steady"});
  ASSERT_TRUE(gemm.ok()) << gemm.error().to_string();
  EXPECT_LT(gemm->points[0].time, gemm->points[1].time);
  EXPECT_EQ(report::to_json(*gemm).find("\"clock\""), std::string::npos);
}

TEST(Sweep, NoImagesAreAValue) {
  const auto sweep = here().sweep({.subject = "qwen2.5-vl-7b",
                                   .machines = {"h200"},
                                   .options = {{"phase", "prefill"}, {"images", "0,1"}}});
  ASSERT_TRUE(sweep.ok()) << sweep.error().to_string();
  EXPECT_EQ(sweep->points[0].error, "");
  EXPECT_EQ(sweep->points[0].warnings.size(), sweep->points[1].warnings.size() + 1);
}

TEST(Sweep, PointsKeepTheirWarnings) {
  const auto sweep =
      here().sweep({.subject = "gpt2", .machines = {"h200"}, .options = {{"context", "512,4096"}}});
  ASSERT_TRUE(sweep.ok()) << sweep.error().to_string();
  ASSERT_FALSE(sweep->points[1].warnings.empty());
  EXPECT_THAT(report::to_text(*sweep), HasSubstr("trained for (1 of 2 points)\n"));
  EXPECT_THAT(report::to_json(*sweep), HasSubstr("trained for"));
}

TEST(Sweep, ProgressEndsWithAllPoints) {
  SweepRequest request = llama(2);
  size_t last = 0;
  request.progress = [&last](size_t done, size_t all) {
    EXPECT_LE(done, all);
    last = done;
  };
  ASSERT_TRUE(here().sweep(request).ok());
  EXPECT_EQ(last, 160U);
}

TEST(Predictor, RemembersAnswersAndChangesNone) {
  const Catalog catalog({.home = ORRERY_SOURCE_DIR});
  Predictor predictor(catalog);
  const ModelRequest request{.model = "llama-3.2-1b", .machine = "h200", .batch = 3};
  const Duration first = predictor.predict(request)->time.total.time;
  for (int64_t batch = 4; batch < 40; ++batch) {  // more than it keeps
    ModelRequest other = request;
    other.batch = batch;
    ASSERT_TRUE(predictor.predict(other).ok());
  }
  EXPECT_EQ(predictor.predict(request)->time.total.time, first);
  EXPECT_EQ(&predictor.predict(request), &predictor.predict(request));
}

std::string json(const Result<report::ModelPrediction>& prediction) {
  return prediction.ok() ? report::to_json(*prediction, report::Detail::Explained)
                         : prediction.error().to_string();
}

// Windows and chunks go when a context fits into them, and must come back.
TEST(Predictor, WhatIsKeptOfOneStepDoesNotReachTheNext) {
  const Catalog catalog({.home = ORRERY_SOURCE_DIR});
  Predictor predictor(catalog);
  for (const char* model : {"gemma-2-9b", "gpt-oss-20b", "llama-4-scout", "llama-3.1-70b"}) {
    for (const int64_t tokens : {64, 9000, 65, 9001}) {
      for (const char* runtime : {"graph", "inductor"}) {
        ModelRequest request{.model = model, .machine = "h200", .runtime = runtime};
        request.context = tokens;
        EXPECT_EQ(json(predictor.predict(request)), json(Predictor(catalog).predict(request)));
        request.phase = "prefill";
        std::swap(request.seq, request.context);
        EXPECT_EQ(json(predictor.predict(request)), json(Predictor(catalog).predict(request)));
      }
    }
  }
}

TEST(Predictor, AnErrorIsAnAnswer) {
  const Catalog catalog({.home = ORRERY_SOURCE_DIR});
  Predictor predictor(catalog);
  EXPECT_FALSE(predictor.predict(ModelRequest{.model = "none", .machine = "h200"}).ok());
  EXPECT_TRUE(predictor.predict(ModelRequest{.model = "llama-3.2-1b", .machine = "h200"}).ok());
}

}  // namespace
}  // namespace orrery::session
