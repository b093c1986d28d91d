// Reports as one self-contained HTML page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/report/comparison.h"
#include "orrery/report/prediction.h"
#include "orrery/report/sweep.h"

namespace orrery::report {

// A page is the document of --json with explain's detail, and the script that draws it (page/):
// summary, stacked time by operator, roofline, curves, a table to search and sort. It needs no
// network; its security policy forbids any.

std::string to_html(const ModelPrediction& prediction);
std::string to_html(const CallPrediction& prediction);
std::string to_html(const Comparison& comparison);
std::string to_html(const Sweep& sweep);

/// The page around a JSON document; "<" in its strings is escaped, so that no name ends the script.
std::string page_around(const std::string& json);

}  // namespace orrery::report
