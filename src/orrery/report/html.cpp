// Fills the page.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/html.h"

#include <string_view>

#include "orrery/base/check.h"
#include "orrery/report/page_text.h"
#include "orrery/report/predict_report.h"

namespace orrery::report {

namespace {

constexpr std::string_view kMark = "@@";

std::string without_tags(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string_view content(std::string_view name, std::string_view data) {
  if (name == "STYLE") {
    return kPageStyle;
  }
  if (name == "SCRIPT") {
    return kPageScript;
  }
  if (name == "CHARTS") {
    return kPageCharts;
  }
  ORR_CHECK(name == "DATA") << std::string(name);
  return data;
}

}  // namespace

std::string page_around(const std::string& json) {
  const std::string data = without_tags(json);
  std::string page;
  std::string_view rest = kPageHtml;
  for (size_t mark = rest.find(kMark); mark != std::string_view::npos; mark = rest.find(kMark)) {
    page += rest.substr(0, mark);
    rest.remove_prefix(mark + kMark.size());
    const size_t end = rest.find(kMark);
    page += content(rest.substr(0, end), data);
    rest.remove_prefix(end + kMark.size());
  }
  return page += rest;
}

std::string to_html(const ModelPrediction& prediction) {
  return page_around(to_json(prediction, Detail::Explained));
}

std::string to_html(const CallPrediction& prediction) {
  return page_around(to_json(prediction, Detail::Explained));
}

std::string to_html(const Comparison& comparison) {
  return page_around(to_json(comparison, Detail::Explained));
}

std::string to_html(const Sweep& sweep) {
  return page_around(to_json(sweep));
}

}  // namespace orrery::report
