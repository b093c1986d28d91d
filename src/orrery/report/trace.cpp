// Traces: slices and counters, one JSON object a line.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace orrery::report {
namespace {

// The format is the "JSON object format" of the Trace Event document: "X" is a complete slice, "C"
// a counter, "M" a name. Core i is process i + 1; process 0 is the chip.
class TraceWriter {
 public:
  void name(std::string_view what, int64_t process, int64_t thread, std::string_view text) {
    line(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
         what,
         process,
         thread,
         text);
  }

  void sort(int64_t process, int64_t index) {
    line(R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}}}})",
         process,
         index);
  }

  void slice(const device::Span& span, double begin_us, double duration_us, double waited_us) {
    line(R"({{"ph":"X","name":"{}","cat":"phase","pid":{},"tid":{},"ts":{:.4f},"dur":{:.4f},)"
         R"("args":{{"unit":{},"waited for operands, us":{:.4f}}}}})",
         span.phase->name,
         span.sm + 1,
         span.slot,
         begin_us,
         duration_us,
         span.unit,
         waited_us);
  }

  void kernel(std::string_view name, double begin_us, double duration_us) {
    line(R"({{"ph":"X","name":"{}","cat":"kernel","pid":0,"tid":0,"ts":{:.4f},"dur":{:.4f}}})",
         name,
         begin_us,
         duration_us);
  }

  void counter(std::string_view name, double time_us, double value) {
    line(R"({{"ph":"C","name":"{}","pid":0,"tid":0,"ts":{:.4f},"args":{{"value":{:.4g}}}}})",
         name,
         time_us,
         value);
  }

  std::string text() const {
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n";
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += text_.empty() ? "" : ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  std::string text_;
};

// Of one kernel, which begins at `start_us`.
struct Place {
  double start_us = 0;
  double us_per_clock = 0;
};

// `per_clock` turns a window's sum into the value shown, by the width of the window.
void add_counter(TraceWriter& writer,
                 std::string_view name,
                 const device::Timeline& timeline,
                 const Place& place,
                 double per_clock) {
  for (size_t at = 0; at < timeline.sums().size(); ++at) {
    const double time =
        place.start_us + static_cast<double>(at) * timeline.width() * place.us_per_clock;
    writer.counter(name, time, timeline.sums()[at] / timeline.width() * per_clock);
  }
  const double end = static_cast<double>(timeline.sums().size()) * timeline.width();
  writer.counter(name, place.start_us + end * place.us_per_clock, 0);
}

void add_counters(TraceWriter& writer,
                  const SimulatedKernel& kernel,
                  const machine::Chip& chip,
                  const Place& place) {
  const device::Recording& recording = kernel.recording;
  const double hertz = kernel.simulation.hertz;
  const double gigabytes = hertz * 1e-9;
  const double percent = 100 / static_cast<double>(chip.core.count);
  add_counter(writer, "DRAM read, GB/s", recording.dram_read, place, gigabytes);
  add_counter(writer, "DRAM write, GB/s", recording.dram_write, place, gigabytes);
  add_counter(writer, "L2, GB/s", recording.l2, place, gigabytes);
  for (size_t pipe = 0; pipe < device::kPipes; ++pipe) {
    const std::string name = fmt::format("{}, %", device::name(static_cast<device::Pipe>(pipe)));
    if (!recording.pipes[pipe].sums().empty()) {
      add_counter(writer, name, recording.pipes[pipe], place, percent);
    }
  }
  writer.counter("SM clock, MHz", place.start_us, hertz * 1e-6);
}

// Power of the SMs and of DRAM relative to that at which the clock begins to fall (plan/clock.h).
void add_power(TraceWriter& writer,
               const SimulatedKernel& kernel,
               const machine::Chip& chip,
               const Place& place) {
  const device::Timeline& tensor =
      kernel.recording.pipes[static_cast<size_t>(device::Pipe::Tensor)];
  const device::Timeline& dram = kernel.recording.dram_read;
  const double sms = static_cast<double>(chip.core.count);
  const double full = chip.dram.read.value() / kernel.simulation.hertz;
  const size_t windows = std::max(tensor.sums().size(), dram.sums().size());
  const double width = std::max(tensor.width(), dram.width());
  const auto share = [width](const device::Timeline& timeline, double from, double most) {
    const auto first = static_cast<size_t>(from / timeline.width());
    const auto last = static_cast<size_t>((from + width) / timeline.width());
    double sum = 0;
    for (size_t at = first; at < std::min(last, timeline.sums().size()); ++at) {
      sum += timeline.sums()[at];
    }
    return std::min(1.0, sum / width / most);
  };
  for (size_t at = 0; at < windows; ++at) {
    const double from = static_cast<double>(at) * width;
    const double power = chip.clock.base_power +
                         chip.clock.tensor_power_steady * share(tensor, from, sms) +
                         chip.clock.dram_power * share(dram, from, full);
    writer.counter(
        "power over the limit's onset", place.start_us + from * place.us_per_clock, power);
  }
}

void add_names(TraceWriter& writer, const std::vector<SimulatedKernel>& kernels) {
  std::set<uint32_t> sms;
  std::set<std::pair<uint32_t, uint32_t>> slots;
  for (const SimulatedKernel& kernel : kernels) {
    for (const device::Span& span : kernel.recording.spans) {
      sms.insert(span.sm);
      slots.insert({span.sm, span.slot});
    }
  }
  writer.name("process_name", 0, 0, "chip");
  writer.sort(0, 0);
  for (const uint32_t sm : sms) {
    writer.name("process_name", sm + 1, 0, fmt::format("SM {}", sm));
    writer.sort(sm + 1, sm + 1);
  }
  for (const auto& [sm, slot] : slots) {
    writer.name("thread_name", sm + 1, slot, fmt::format("warps {}", slot));
  }
}

}  // namespace

std::string to_trace(const std::vector<SimulatedKernel>& kernels, const machine::Chip& chip) {
  TraceWriter writer;
  add_names(writer, kernels);
  double now_us = 0;
  for (const SimulatedKernel& kernel : kernels) {
    const Place place{.start_us = now_us + kernel.simulation.start.microseconds(),
                      .us_per_clock = 1e6 / kernel.simulation.hertz};
    const double run_us = kernel.simulation.run.clocks * place.us_per_clock;
    writer.kernel(kernel.profile.kernel, place.start_us, run_us);
    for (const device::Span& span : kernel.recording.spans) {
      writer.slice(span,
                   place.start_us + span.begin * place.us_per_clock,
                   (span.end - span.begin) * place.us_per_clock,
                   span.waited * place.us_per_clock);
    }
    add_counters(writer, kernel, chip, place);
    add_power(writer, kernel, chip, place);
    now_us += kernel.simulation.estimate.time.microseconds();
  }
  return writer.text();
}

}  // namespace orrery::report
