// Session: validation of files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "orrery/frontend/decoder_list.h"
#include "orrery/session/files.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"

namespace orrery::session {

namespace {

std::string models_beside(const std::string& table) {
  return folder_of(table) + "/models.json";
}

/// The decoders described beside a measured file; none if there is no such list.
Result<std::vector<frontend::Model>> decoders_beside(const std::string& path) {
  const std::string list = models_beside(path);
  if (!is_file(list)) {
    return std::vector<frontend::Model>{};
  }
  ORR_TRY(const std::string text, read_file(list));
  return frontend::read_decoder_list(text, list);
}

Result<void> write_predictions(const std::vector<ValidatedFile>& files, const std::string& out) {
  if (is_folder(out)) {
    for (const ValidatedFile& file : files) {
      const std::string path = out + "/" + stem_of(file.path) + ".csv";
      ORR_TRY_VOID(write_file(path, validate::to_csv(file.validation.table)));
    }
    return {};
  }
  validate::Table all = files.front().validation.table;
  for (size_t i = 1; i < files.size(); ++i) {
    const validate::Table& table = files[i].validation.table;
    if (table.header != all.header) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.validate] out: got {} files of different columns, need a folder "
                        "to write them to (got '{}')",
                        files.size(),
                        out);
    }
    all.rows.insert(all.rows.end(), table.rows.begin(), table.rows.end());
  }
  return write_file(out, validate::to_csv(all));
}

/// A table that says nothing is no table.
Result<void> check_table(const validate::Validation& validation, const std::string& path) {
  if (validation.table.rows.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.validate] {}: got a header without rows, need at least one",
                      path);
  }
  if (validation.kind.empty()) {
    return make_error(ErrorCode::InvalidInput, "{}", validation.errors.front().message)
        .with_note("in " + path);
  }
  return {};
}

/// Predictions must not overwrite what is read: measurements, their models, the machine.
Result<void> check_out(const ValidateRequest& request) {
  const std::string& out = request.out;
  std::vector<std::string> read = request.files;
  read.push_back(request.machine);
  for (const std::string& file : request.files) {
    read.push_back(models_beside(file));
  }
  for (const std::string& file : request.files) {
    const std::string written = is_folder(out) ? out + "/" + stem_of(file) + ".csv" : out;
    const bool same = std::any_of(read.begin(), read.end(), [&](const std::string& each) {
      return each == written || is_same_file(each, written);
    });
    if (!out.empty() && same) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.validate] out: got '{}', need another place than the input",
                        out);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ValidatedFile>> Session::validate(const ValidateRequest& request) const {
  if (request.files.empty()) {
    return make_error(ErrorCode::InvalidInput, "[session.validate] files: got none, need one");
  }
  ORR_TRY_VOID(check_out(request));
  ORR_TRY(const By by, parse_by(request.by));
  ORR_TRY(const Opened opened, open(catalog_, request.machine, by));
  std::vector<ValidatedFile> files;
  for (const std::string& path : request.files) {
    validate::Setup setup{.library = opened.library,
                          .estimator = *opened.estimator,
                          .decoders_beside = [&path] { return decoders_beside(path); },
                          .model = [this](std::string_view name) { return catalog_.model(name); },
                          .given_kernel = request.given_kernel};
    if (request.state) {
      ORR_TRY(setup.clock, parse_state(*request.state));
    }
    if (request.cache) {
      ORR_TRY(setup.cache, parse_cache(*request.cache));
    }
    if (request.runtime) {
      ORR_TRY(setup.runtime, plan::parse_runtime(*request.runtime));
    }
    ORR_TRY(const std::string text, read_file(path, validate::kMostTable));
    ORR_TRY(validate::Validation validation, validate::validate_table(text, path, setup));
    ORR_TRY_VOID(check_table(validation, path));
    std::vector<validate::Score> scores = validate::scores(validation.compared);
    std::vector<validate::Ranking> rankings = validate::rankings(validation.compared);
    files.push_back({path, std::move(validation), std::move(scores), std::move(rankings)});
  }
  if (!request.out.empty()) {
    ORR_TRY_VOID(write_predictions(files, request.out));
  }
  return files;
}

}  // namespace orrery::session
