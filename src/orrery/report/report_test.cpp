// Tables and JSON text.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"

namespace orrery::report {
namespace {

TEST(TextTable, AlignsColumnsAndLeavesNoTrailingBlanks) {
  TextTable table({{"operator"}, {"calls", Align::Right}, {"bound"}});
  table.add({"gemm", "129", "DRAM"});
  table.add({"a long name", "1", ""});
  EXPECT_EQ(table.to_text(),
            "operator     calls  bound\n"
            "gemm           129  DRAM\n"
            "a long name      1\n");
}

TEST(JsonWriter, WritesNestedValues) {
  JsonWriter json;
  json.begin_object().member("a", int64_t{1}).key("b").begin_array().value(2.5).value(true);
  json.end_array().key("empty").begin_object().end_object().end_object();
  EXPECT_EQ(json.text(), R"({
  "a": 1,
  "b": [
    2.5,
    true
  ],
  "empty": {}
}
)");
}

TEST(JsonWriter, EscapesAndReplaces) {
  JsonWriter json;
  json.value("\"\\\n\x01\xff\xe2\x82\xac");
  EXPECT_EQ(json.text(), "\"\\\"\\\\\\n\\u0001\\ufffd\xe2\x82\xac\"\n");
}

TEST(JsonWriter, SendsNoControlCharactersOn) {
  JsonWriter json;
  json.value("\x1b[2J\x7f\xC2\x9B\xC2\xA0");
  EXPECT_EQ(json.text(), "\"\\u001b[2J\\u007f\\u009b\xC2\xA0\"\n");
}

TEST(JsonWriter, WhatIsNotFiniteIsNull) {
  JsonWriter json;
  json.value(std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.text(), "null\n");
}

}  // namespace
}  // namespace orrery::report
