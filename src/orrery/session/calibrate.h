// Calibration by name: picks the machine that the rest comes from, and writes the files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/calibrate/calibrate.h"
#include "orrery/session/catalog.h"

namespace orrery::session {

struct CalibrateRequest {
  std::string like = {};          // name or path of a machine file; empty: by the GPU's name
  std::vector<std::string> only;  // benchmarks; none: all
  std::string out = {};           // machine file to write; empty: none
  std::string report = {};        // report in Markdown to write; empty: none
  std::string date;               // today, YYYY-MM-DD
  bool force = false;             // replace files that are there
};

struct Calibrated {
  calibrate::Calibration calibration;
  machine::Machine like;
};

/// What can be refused before a GPU is needed: unknown benchmarks and machines, files that are
/// there.
Result<void> check(const Catalog& catalog, const CalibrateRequest& request);

/// Measures on `gpu` (a minute) and writes what the request names. Errors change no file.
Result<Calibrated> calibrate(const Catalog& catalog,
                             const CalibrateRequest& request,
                             calibrate::Gpu& gpu,
                             const calibrate::Progress& progress);

/// The benchmarks, what each measures and which keys of machine files it gives.
std::string benchmarks_text();
/// Schema: docs/reference/json.md.
std::string benchmarks_json();

// What was measured against the machine's numbers, what was taken over, what was skipped.
std::string to_text(const Calibrated& calibrated);
std::string to_markdown(const Calibrated& calibrated);
/// Schema: docs/reference/json.md.
std::string to_json(const Calibrated& calibrated);

}  // namespace orrery::session
