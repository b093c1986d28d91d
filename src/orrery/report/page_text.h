// The files of an HTML report, as text (generated from page/ when Orrery is built).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace orrery::report {

extern const std::string_view kPageHtml;    // page/page.html: @@NAME@@ marks where the others go
extern const std::string_view kPageStyle;   // page/page.css
extern const std::string_view kPageScript;  // page/page.js
extern const std::string_view kPageCharts;  // page/vendor/chart.min.js

}  // namespace orrery::report
