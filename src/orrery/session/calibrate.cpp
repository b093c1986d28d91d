// Session: calibration.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/calibrate.h"

#include <utility>

#include "orrery/session/files.h"

namespace orrery::session {

namespace {

/// The machine named, or the one that the GPU's name fits.
Result<machine::Machine> like_of(const Catalog& catalog,
                                 const std::string& like,
                                 const std::string& gpu) {
  if (!like.empty()) {
    return catalog.machine(like);
  }
  ORR_TRY(const std::vector<machine::Machine> machines, catalog.machines());
  if (const machine::Machine* found = calibrate::fitting(machines, gpu)) {
    return *found;
  }
  return make_error(ErrorCode::NotFound,
                    "[session.calibrate] --like: no machine is called like the GPU, got '{}', need "
                    "the name of its nearest relative",
                    gpu);
}

}  // namespace

Result<void> check(const Catalog& catalog, const CalibrateRequest& request) {
  ORR_TRY_VOID(calibrate::check_names(request.only));
  if (!request.like.empty()) {
    ORR_TRY_VOID(catalog.machine(request.like));
  }
  for (const std::string& path : {request.out, request.report}) {
    if (!path.empty() && is_file(path) && !request.force) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.calibrate] got '{}', which is there already, need --force to "
                        "replace it",
                        path);
    }
  }
  if (!request.out.empty() && request.out == request.report) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.calibrate] --report: got '{}' as for --out, need another file",
                      request.report);
  }
  return {};
}

Result<Calibrated> calibrate(const Catalog& catalog,
                             const CalibrateRequest& request,
                             calibrate::Gpu& gpu,
                             const calibrate::Progress& progress) {
  ORR_TRY_VOID(check(catalog, request));
  ORR_TRY(machine::Machine like, like_of(catalog, request.like, gpu.facts().name));
  const std::string id = request.out.empty() ? like.id + "-calibrated" : stem_of(request.out);
  ORR_TRY(calibrate::Calibration calibration,
          calibrate::calibrate(
              gpu, like, {.id = id, .date = request.date, .only = request.only}, progress));
  const Calibrated result{std::move(calibration), std::move(like)};
  if (!request.out.empty()) {
    ORR_TRY_VOID(write_file(request.out, result.calibration.machine_file));
  }
  if (!request.report.empty()) {
    ORR_TRY_VOID(write_file(request.report, to_markdown(result)));
  }
  return result;
}

}  // namespace orrery::session
