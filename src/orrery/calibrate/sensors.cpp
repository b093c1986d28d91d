// Power and clock of a GPU: see sensors.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/sensors.h"

#include <utility>

namespace orrery::calibrate {

// Declarations follow the NVML reference: results are 0 for success, the SM clock has number 1.
std::unique_ptr<const Sensors> Sensors::open(const std::string& bus_id) {
  const std::string names[] = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
  Result<runtime::cuda::DynamicLibrary> library = runtime::cuda::DynamicLibrary::open(names);
  if (!library.ok()) return nullptr;
  std::unique_ptr<Sensors> sensors(new Sensors(std::move(library).value()));
  int (*init)() = nullptr;
  int (*find)(const char*, void**) = nullptr;
  const auto& from = sensors->library_;
  const bool bound = from.bind(init, "nvmlInit_v2").ok() &&
                     from.bind(find, "nvmlDeviceGetHandleByPciBusId_v2").ok() &&
                     from.bind(sensors->power_, "nvmlDeviceGetPowerUsage").ok() &&
                     from.bind(sensors->clock_, "nvmlDeviceGetClockInfo").ok();
  (void)from.bind(sensors->fields_, "nvmlDeviceGetFieldValues").ok();
  if (!bound || init() != 0 || find(bus_id.c_str(), &sensors->device_) != 0) return nullptr;
  return sensors;
}

std::optional<unsigned> Sensors::instant_milliwatts() const {
  struct Field {        // nvmlFieldValue_t
    unsigned id = 186;  // NVML_FI_DEV_POWER_INSTANT
    unsigned scope = 0;
    long long timestamp = 0;
    long long latency = 0;
    int type = 0;
    int status = 0;

    union {
      double real;
      unsigned whole;
    } value = {0};
  };

  constexpr int kUnsigned = 1;
  Field field;
  if (fields_ == nullptr || fields_(device_, 1, &field) != 0) return std::nullopt;
  if (field.status != 0 || field.type != kUnsigned) return std::nullopt;
  return field.value.whole;
}

std::optional<Reading> Sensors::read() const {
  constexpr int kSmClock = 1;
  unsigned milliwatts = 0;
  unsigned megahertz = 0;
  if (power_(device_, &milliwatts) != 0 || clock_(device_, kSmClock, &megahertz) != 0) {
    return std::nullopt;
  }
  milliwatts = instant_milliwatts().value_or(milliwatts);
  return Reading{.watts = milliwatts * 1e-3, .hertz = megahertz * 1e6};
}

}  // namespace orrery::calibrate
