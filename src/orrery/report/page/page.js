// Draws a report from the JSON in the page. SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const charts = []; // functions that draw one anew, for a change between light and dark

  // ---- words and numbers

  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
  const three = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));

  function prefixed(value, unit) {
    const [scale, prefix] = PREFIXES.find(([least]) => value >= least * 0.9995) || [1, ""];
    return `${three(value / scale)} ${prefix}${unit}`;
  }

  function time(us) {
    if (us >= 1e6) return `${three(us / 1e6)} s`;
    if (us >= 1e3) return `${three(us / 1e3)} ms`;
    return us >= 1 || us === 0 ? `${three(us)} µs` : `${three(us * 1e3)} ns`;
  }

  /// Beside an axis: no zeros behind the point.
  const short = (text) => text.replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");
  const axisTime = (us) => (us === 0 ? "0" : short(time(us)));
  const axisNumber = (x) => short(prefixed(x, "")).trim();

  const bytes = (n) => prefixed(n, "B");
  const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
  const whole = (n) => (n >= 100 ? Math.round(n).toLocaleString("en") : three(n));

  // ---- elements

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function card(what, value, more, ...rest) {
    return make("div", { class: "card" }, make("div", { class: "what" }, what),
      make("div", { class: "value" }, value), make("div", { class: "more" }, more || ""), ...rest);
  }

  function section(title, note, ...children) {
    const id = title.toLowerCase().replace(/[^a-z]+/g, "-");
    return make("section", { "aria-labelledby": id }, make("h2", { id }, title),
      make("p", { class: "note" }, note), ...children);
  }

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const KINDS = ["gemm", "attention", "pointwise", "norm", "moe", "collective", "copy", "embedding"];
  const known = new Map(); // a kind of operator keeps its colour in every chart
  function kindIndex(kind) {
    const fixed = KINDS.indexOf(kind);
    if (fixed >= 0) return fixed;
    if (!known.has(kind)) known.set(kind, 8 + (known.size % 2));
    return known.get(kind);
  }
  const kindColor = (kind) => color(`--c${kindIndex(kind)}`);

  // ---- charts

  function chart(label, configuration, height) {
    const canvas = make("canvas", { role: "img", "aria-label": label, tabindex: "0" }, label);
    const plot = make("div", { class: "plot" }, canvas);
    if (height) plot.style.height = `${height}px`;
    let drawn = null;
    charts.push(() => {
      if (drawn) drawn.destroy();
      Chart.defaults.color = color("--soft");
      Chart.defaults.borderColor = color("--line");
      Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
      Chart.defaults.animation = false;
      drawn = new Chart(canvas, configuration());
      const marks = drawn.data.datasets.reduce((sum, set) => sum + set.data.length, 0);
      canvas.dataset.marks = String(marks);
    });
    return plot;
  }

  const narrow = () => window.innerWidth < 600;
  const legend = () => ({ position: "bottom", labels: { boxWidth: 18, boxHeight: 7, usePointStyle: true, padding: 12 } });

  /// On an axis of powers: 1, 2, 5, 10 ... as far as they fit.
  function powerTicks(text) {
    return {
      maxRotation: 0, autoSkip: true,
      callback(value) {
        const digit = Number(value.toExponential()[0]);
        const clean = Math.abs(value / 10 ** Math.floor(Math.log10(value) + 1e-9) - digit) < 1e-6;
        const span = Math.log10(this.max / this.min);
        return clean && (digit === 1 || (span < 3 && (digit === 2 || digit === 5))) ? text(value) : null;
      },
    };
  }

  /// Bars of several names, each made of kinds of operators.
  function stacked(rows, label) {
    const kinds = [...new Set(rows.flatMap((row) => row.operators.map((each) => each.operator)))];
    const configuration = () => ({
      type: "bar",
      data: {
        labels: rows.map((row) => row.name),
        datasets: kinds.map((kind) => ({
          label: kind, backgroundColor: kindColor(kind), borderWidth: 0, maxBarThickness: 46,
          data: rows.map((row) => (row.operators.find((each) => each.operator === kind) || {}).time_us || 0),
        })),
      },
      options: {
        indexAxis: "y", maintainAspectRatio: false,
        scales: {
          x: { stacked: true, ticks: { callback: axisTime, maxRotation: 0, maxTicksLimit: narrow() ? 4 : 9 } },
          y: { stacked: true, grid: { display: false }, display: rows.length > 1 },
        },
        plugins: {
          legend: legend(),
          tooltip: {
            callbacks: {
              label(item) {
                const all = rows[item.dataIndex].operators.reduce((sum, each) => sum + each.time_us, 0);
                return `${item.dataset.label}: ${time(item.raw)}, ${percent(item.raw / all)}`;
              },
            },
          },
        },
      },
    });
    return chart(label, configuration, 110 + 50 * rows.length);
  }

  /// Kernels under the roof of the machine: FLOP a byte across, FLOP a second up.
  function roofline(kernels, limits, label) {
    const busy = kernels.filter((each) => each.time_us > 0 && (each.flop > 0 || each.dram_bytes > 0));
    if (busy.length === 0) return null;
    // Without FLOP (copies) a kernel stands at the left edge, as far under the slope as its bytes a
    // second are; without bytes of DRAM at the right edge.
    const edges = [0.02, 5000];
    const points = busy.map((each) => {
      const x = each.flop === 0 ? edges[0] : each.dram_bytes === 0 ? edges[1]
        : Math.min(edges[1], Math.max(edges[0], each.flop / each.dram_bytes));
      const rate = each.flop > 0 ? each.flop : x * each.dram_bytes;
      return { x, y: rate / (each.time_us * 1e-6), kernel: each };
    });
    const types = [...new Set(points.map((each) => each.kernel.tensor_type).filter(Boolean))];
    const roofs = types.map((type) => [`${type} tensor`, limits.tensor_flop_per_second[type]])
      .filter(([, rate]) => rate > 0);
    roofs.push(["fp32 vector", limits.vector_flop_per_second]);
    const top = Math.max(...roofs.map(([, rate]) => rate));
    const dram = limits.dram_bytes_per_second;
    const left = Math.min(0.05, ...points.map((each) => each.x)) / 1.6;
    const right = Math.max(10 * (top / dram), ...points.map((each) => each.x)) * 1.6;
    const low = Math.min(left * dram, ...points.map((each) => each.y)) / 1.5;
    const roofLine = ([name, rate], i) => ({
      type: "line", pointStyle: "line", label: `${name}, ${prefixed(rate, "FLOP/s")}`, pointRadius: 0, pointHitRadius: 0,
      borderColor: color("--soft"), borderWidth: 1.5, borderDash: i === 0 ? [] : [5, 4],
      data: [{ x: rate / dram, y: rate }, { x: right, y: rate }],
    });
    const configuration = () => ({
      type: "scatter",
      data: {
        datasets: [
          ...[...new Set(points.map((each) => each.kernel.operator))].map((kind) => ({
            label: kind, backgroundColor: `${kindColor(kind)}cc`, borderColor: color("--card"), borderWidth: 1,
            pointRadius: (at) => 4 + 14 * Math.sqrt(at.raw ? at.raw.kernel.share : 0),
            pointHoverRadius: (at) => 6 + 14 * Math.sqrt(at.raw ? at.raw.kernel.share : 0),
            data: points.filter((each) => each.kernel.operator === kind),
          })),
          ...roofs.map(roofLine),
          {
            type: "line", pointStyle: "line", label: `DRAM, ${prefixed(dram, "B/s")}`, pointRadius: 0, pointHitRadius: 0,
            borderColor: color("--ink"), borderWidth: 1.5,
            data: [{ x: left, y: left * dram }, { x: top / dram, y: top }],
          },
        ],
      },
      options: {
        maintainAspectRatio: false,
        scales: {
          x: {
            type: "logarithmic", min: left, max: right, ticks: powerTicks((x) => String(x)),
            title: { display: true, text: "FLOP per byte of DRAM" },
          },
          y: {
            type: "logarithmic", min: low, max: top * 2, ticks: powerTicks(axisNumber),
            title: { display: true, text: "FLOP per second" },
          },
        },
        plugins: {
          legend: legend(),
          tooltip: {
            filter: (item) => Boolean(item.raw.kernel),
            callbacks: {
              label({ raw: { kernel } }) {
                const second = kernel.time_us * 1e-6;
                return [`${kernel.step || kernel.operator}: ${kernel.name}`,
                  `${time(kernel.time_us)} each, ${percent(kernel.share)} of all`,
                  `${prefixed(kernel.flop / second, "FLOP/s")}, ${prefixed(kernel.dram_bytes / second, "B/s")}, ${percent(kernel.least_us / kernel.time_us)} of its limit`];
              },
            },
          },
        },
      },
    });
    return chart(label, configuration);
  }

  /// Curves over one axis of a sweep.
  function curves(lines, axis, title, text, axisText, label) {
    const logarithmic = (values) => Math.max(...values) / Math.min(...values) > 20;
    const xs = lines.flatMap((line) => line.points.map((each) => each.x));
    const ys = lines.flatMap((line) => line.points.map((each) => each.y));
    const configuration = () => ({
      type: "line",
      data: {
        datasets: lines.map((line, i) => ({
          label: line.name, data: line.points, borderColor: color(`--c${i % 10}`),
          backgroundColor: color(`--c${i % 10}`), borderWidth: 2, borderDash: i < 10 ? [] : [6, 4],
          pointRadius: line.points.length > 60 ? 0 : 3, pointHitRadius: 8,
        })),
      },
      options: {
        maintainAspectRatio: false, interaction: { mode: "nearest", intersect: false },
        scales: {
          x: {
            type: logarithmic(xs) ? "logarithmic" : "linear", title: { display: true, text: axis },
            ticks: logarithmic(xs) ? powerTicks((x) => x.toLocaleString("en")) : { maxRotation: 0 },
          },
          y: {
            type: logarithmic(ys) ? "logarithmic" : "linear", title: { display: true, text: title },
            ticks: logarithmic(ys) ? powerTicks(axisText) : { callback: axisText },
          },
        },
        plugins: {
          legend: { ...legend(), display: lines.length > 1 },
          tooltip: {
            callbacks: {
              title: (items) => (items.length ? `${axis} ${items[0].raw.x.toLocaleString("en")}` : ""),
              label: (item) => `${item.dataset.label ? `${item.dataset.label}: ` : ""}${text(item.raw.y)}`,
            },
          },
        },
      },
    });
    return chart(label, configuration);
  }

  // ---- a table that can be searched and sorted

  /// A column: {title, get(row) for sorting and searching, text(row) to show, kind: number, code, name}.
  function table(rows, columns, label) {
    let sorted = -1, rising = true;
    const body = make("tbody");
    const count = make("span", { class: "note", role: "status" });
    const search = make("input", { type: "search", placeholder: "Search", "aria-label": `Search ${label}` });
    const shown = (row, column) => (column.text ? column.text(row) : String(column.get(row)));
    const texts = new Map(rows.map((row) => [row, columns.map((column) => shown(row, column)).join(" ").toLowerCase()]));
    const line = (row) => make("tr", {}, ...columns.map((column) => {
      const cell = make("td", { class: column.kind || "" });
      if (column.swatch) cell.append(make("span", { class: "swatch", style: `background:var(--c${kindIndex(column.swatch(row))})` }));
      cell.append(shown(row, column));
      return cell;
    }));
    const most = 2000; // rows in the page at once
    const fill = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let found = rows.filter((row) => words.every((word) => texts.get(row).includes(word)));
      if (sorted >= 0) {
        const get = columns[sorted].get;
        found = found.slice().sort((a, b) => {
          const [x, y] = [get(a), get(b)];
          const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return rising ? order : -order;
        });
      }
      body.replaceChildren(...found.slice(0, most).map(line));
      count.textContent = found.length > most ? `first ${most} of ${found.length} rows` : `${found.length} of ${rows.length} rows`;
    };
    const heads = columns.map((column, i) => {
      const button = make("button", { type: "button" }, column.title);
      const head = make("th", { scope: "col", class: column.kind === "number" ? "number" : "", "aria-sort": "none" }, button);
      button.addEventListener("click", () => {
        rising = sorted === i ? !rising : column.kind !== "number";
        sorted = i;
        heads.forEach((each, at) => each.setAttribute("aria-sort", at === i ? (rising ? "ascending" : "descending") : "none"));
        fill();
      });
      return head;
    });
    search.addEventListener("input", fill);
    fill();
    return [make("div", { class: "bar" }, search, count),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table of ${label}` },
        make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body))];
  }

  // ---- what the documents have in common

  function interval(each) {
    return `80 %: ${time(each.low_us)} to ${time(each.high_us)}`;
  }

  /// Each version once, the first few.
  function libraries(version) {
    const all = [...new Set(version.split(", "))];
    return all.length > 6 ? `${all.slice(0, 6).join(", ")} and ${all.length - 6} more` : all.join(", ");
  }

  const sizes = (each) => ["batch", "seq", "context"].filter((name) => name in each)
    .map((name) => `${name} ${each[name].toLocaleString("en")}`).join(", ");

  /// One row per kernel of a prediction of a model.
  function kernelsOf(prediction) {
    return prediction.steps.flatMap((step) => step.kernels.map((kernel) => ({
      ...kernel, step: step.step, operator: step.operator, call: step.call, times: step.times,
      machine: prediction.machine.id, total_us: kernel.time_us * step.times,
      share: (kernel.time_us * step.times) / prediction.device_us,
    })));
  }

  function kernelTable(kernels, several) {
    const columns = [
      { title: "step", kind: "step", get: (row) => row.step, swatch: (row) => row.operator },
      { title: "kernel", kind: "code", get: (row) => row.name },
      { title: "call", kind: "code", get: (row) => row.call },
      { title: "times", kind: "number", get: (row) => row.times },
      { title: "each", kind: "number", get: (row) => row.time_us, text: (row) => time(row.time_us) },
      { title: "total", kind: "number", get: (row) => row.total_us, text: (row) => time(row.total_us) },
      { title: "share", kind: "number", get: (row) => row.share, text: (row) => percent(row.share) },
      { title: "bound", get: (row) => row.bound },
      { title: "of limit", kind: "number", get: (row) => row.least_us / row.time_us, text: (row) => percent(row.least_us / row.time_us) },
    ];
    if (several) columns.unshift({ title: "machine", get: (row) => row.machine });
    return table(kernels.slice().sort((a, b) => b.total_us - a.total_us), columns, "kernels");
  }

  function memoryCard(memory) {
    const parts = [["weights_bytes", "weights", 0], ["kv_cache_bytes", "KV cache", 1], ["activation_bytes", "activations", 2]];
    const all = Math.max(memory.capacity_bytes, memory.total_bytes);
    const meter = make("div", { class: "meter", role: "img", "aria-label": `${percent(memory.total_bytes / memory.capacity_bytes)} of the memory` },
      ...parts.map(([key, , i]) => make("span", { style: `width:${(100 * memory[key]) / all}%;background:var(--c${i})` })));
    const more = parts.map(([key, name]) => `${name} ${bytes(memory[key])}`).join(", ");
    const fit = memory.fits ? "" : `Does not fit${memory.largest_batch ? `; batch ${memory.largest_batch} would` : ""}. `;
    return card("memory", `${bytes(memory.total_bytes)} of ${bytes(memory.capacity_bytes)}`, fit + more, meter);
  }

  function warnings(list) {
    return list.map((text) => make("p", { class: "warning", role: "note" }, text));
  }

  function head(title, lead) {
    document.title = `${title} - orrery`;
    page.append(make("header", {}, make("h1", {}, title), make("p", { class: "lead" }, lead)));
  }

  const LIMIT = "The least time that the peak rate of its pipes or the bandwidth of DRAM or L2 would allow, as a share of the predicted time.";

  // ---- documents

  function model(each) {
    head(`${each.model} on ${each.machine.title}`,
      `${each.phase}, ${sizes(each)}, ${each.layers} layers; runtime ${each.runtime}, clock ${each.clock}; ${libraries(each.library.version)}`);
    page.append(...warnings(each.warnings), make("div", { class: "cards" },
      card("time per step", time(each.time_us), interval(each)),
      card("speed", `${whole(each.tokens_per_second)} tokens/s`, each.phase === "decode" ? "new tokens of all sequences" : "tokens of the prompts"),
      card("bound", each.bound, `${each.kernels} kernel launches`), memoryCard(each.memory)));
    const advice = (each.helps || []).map((help) => ({ ...help }));
    if (advice.length > 0) page.append(adviceSection(advice));
    const kernels = kernelsOf(each);
    const longest = each.operators[0];
    const bar = section("Time by operator", `${longest.operator} takes ${percent(longest.share)} of the device's time.`,
      stacked([{ name: each.machine.id, operators: each.operators }], `Stacked bar of the time by kind of operator: ${each.operators.map((op) => `${op.operator} ${time(op.time_us)}`).join(", ")}`),
      ...table(each.operators, [
        { title: "operator", kind: "name", get: (row) => row.operator, swatch: (row) => row.operator },
        { title: "time", kind: "number", get: (row) => row.time_us, text: (row) => time(row.time_us) },
        { title: "share", kind: "number", get: (row) => row.share, text: (row) => percent(row.share) },
        { title: "bound", get: (row) => row.bound },
        { title: "of limit", kind: "number", get: (row) => row.of_limit, text: (row) => percent(row.of_limit) },
      ], "operators").slice(1));
    const roof = roofline(kernels, each.limits, `Roofline of ${each.machine.title} with one point per kernel; the table below has the numbers`);
    const pair = make("div", { class: "pair" }, bar);
    if (roof) pair.append(section("Roofline", "A point is a kernel, as large as its share of the time. Under the slope DRAM limits, under a roof the pipes; kernels without FLOP stand at the left edge.", roof));
    page.append(pair, section("Kernels", LIMIT, ...kernelTable(kernels, false)));
  }

  function adviceSection(advice) {
    return section("What would help most", "Changes that were tried, and what they would save.", ...table(advice, [
      { title: "change", kind: "name", get: (row) => row.change },
      { title: "time", kind: "number", get: (row) => row.time_us, text: (row) => time(row.time_us) },
      { title: "saves", kind: "number", get: (row) => row.gain, text: (row) => percent(row.gain) },
      { title: "price", get: (row) => row.price || "" },
    ], "changes").slice(1));
  }

  function call(each) {
    head(each.call, `${each.machine.title}; clock ${each.clock}, operands ${each.operands}; ${libraries(each.library.version)}`);
    const work = each.kernels.reduce((sum, kernel) => ({ flop: sum.flop + kernel.flop, least: sum.least + kernel.least_us }), { flop: 0, least: 0 });
    page.append(...warnings(each.warnings), make("div", { class: "cards" },
      card("time", time(each.time_us), interval(each)), card("bound", each.bound, `${each.kernels.length} kernel${each.kernels.length === 1 ? "" : "s"}`),
      card("rate", work.flop > 0 ? prefixed(work.flop / (each.time_us * 1e-6), "FLOP/s") : "-", `${percent(work.least / each.time_us)} of the machine's limit`)));
    if ((each.helps || []).length > 0) page.append(adviceSection(each.helps));
    const kernels = each.kernels.map((kernel) => ({ ...kernel, step: kernel.family, operator: kernel.family, call: each.call, times: 1, total_us: kernel.time_us, share: kernel.time_us / each.time_us }));
    const terms = section("Terms", "Parts of the time that run side by side add up to more than the time.",
      stacked(each.terms.map((term) => ({ name: term.name, operators: [{ operator: "time", time_us: term.time_us }] })), "Bars of the terms of the time"));
    const roof = roofline(kernels, each.limits, "Roofline with one point per kernel");
    const pair = make("div", { class: "pair" }, terms);
    if (roof) pair.append(section("Roofline", "A point is a kernel.", roof));
    page.append(pair, section("Kernels", LIMIT, ...kernelTable(kernels, false)));
  }

  function comparison(document) {
    const good = document.predictions.filter((each) => !each.error);
    const first = good[0];
    head(`${first.model} on ${good.length} machines`, `${first.phase}, ${sizes(first)}; runtime ${first.runtime}, clock ${first.clock}`);
    page.append(...warnings(document.predictions.filter((each) => each.error).map((each) => `${each.machine.id}: ${each.error}`)));
    const warned = new Map();
    for (const each of good) for (const text of each.warnings) warned.set(text, [...(warned.get(text) || []), each.machine.id]);
    page.append(...warnings([...warned].map(([text, ids]) => (ids.length === good.length ? text : `${text} (${ids.join(", ")})`))));
    page.append(make("div", { class: "cards" }, ...good.map((each) => card(each.machine.title, time(each.time_us),
      `${whole(each.tokens_per_second)} tokens/s, ${three(first.time_us / each.time_us)} x; ${interval(each)}${each.memory.fits ? "" : "; does not fit into its memory"}`))));
    page.append(section("Time by operator", "One bar per machine.", stacked(good.map((each) => ({ name: each.machine.id, operators: each.operators })),
      `Stacked bars of the time by kind of operator: ${good.map((each) => `${each.machine.id} ${time(each.time_us)}`).join(", ")}`)));
    const roofs = good.map((each) => [each, roofline(kernelsOf(each), each.limits, `Roofline of ${each.machine.title}`)]).filter(([, roof]) => roof);
    for (let i = 0; i < roofs.length; i += 2) {
      page.append(make("div", { class: "pair" }, ...roofs.slice(i, i + 2).map(([each, roof]) => section(`Roofline: ${each.machine.title}`, "A point is a kernel, as large as its share of the time.", roof))));
    }
    page.append(section("Kernels", LIMIT, ...kernelTable(good.flatMap(kernelsOf), true)));
  }

  function sweep(each) {
    const isModel = each.kind === "model";
    const options = Object.entries(each.options).map(([name, value]) => `${name} ${value}`).join(", ");
    const good = each.points.filter((point) => !point.error);
    const on = each.machines.length === 1 ? each.machines[0].title : `${each.machines.length} machines`;
    head(`${each.subject} on ${on}`, [options, each.axes.map((axis) => `${axis.name} ${axis.values[0]} to ${axis.values[axis.values.length - 1]}`).join(", "),
      each.machines[0].clock && `clock ${each.machines[0].clock}`].filter(Boolean).join("; "));
    const failed = new Map();
    for (const point of each.points.filter((each) => each.error)) failed.set(point.error, (failed.get(point.error) || 0) + 1);
    page.append(...warnings([...failed].map(([text, count]) => `${count} point${count === 1 ? "" : "s"} not predicted: ${text}`)));
    const warned = new Map();
    for (const point of good) for (const text of point.warnings || []) warned.set(text, (warned.get(text) || 0) + 1);
    page.append(...warnings([...warned].map(([text, count]) => (count === each.points.length ? text : `${text} (${count} of ${each.points.length} points)`))));
    const at = (point) => each.axes.map((axis) => `${axis.name} ${point.at[axis.name]}`).concat(each.machines.length > 1 ? [point.machine] : []).join(", ");
    const least = (of) => good.reduce((best, point) => (of(point) < of(best) ? point : best), good[0]);
    const quick = least((point) => point.time_us);
    const cards = [card("points", each.points.length.toLocaleString("en"), `${good.length} predicted`), card("shortest", time(quick.time_us), at(quick))];
    if (isModel) {
      const fitting = good.filter((point) => point.fits);
      if (fitting.length > 0) {
        const best = fitting.reduce((a, b) => (b.tokens_per_second > a.tokens_per_second ? b : a));
        cards.push(card("most tokens that fit", `${whole(best.tokens_per_second)} tokens/s`, at(best)));
      }
      cards.push(card("fit into memory", `${fitting.length} of ${good.length}`, "points"));
    }
    page.append(make("div", { class: "cards" }, ...cards));
    const numeric = each.axes.filter((axis) => axis.values.length > 1 && axis.values.every((value) => value !== "" && !Number.isNaN(Number(value))));
    const along = numeric.reduce((best, axis) => (!best || axis.values.length >= best.values.length ? axis : best), null);
    if (along) page.append(curveSection(each, good, along, isModel));
    const columns = [...(each.machines.length > 1 ? [{ title: "machine", get: (row) => row.machine }] : []),
      ...each.axes.map((axis) => {
        const numbers = numeric.includes(axis);
        return { title: axis.name, kind: numbers ? "number" : "", get: (row) => (numbers ? Number(row.at[axis.name]) : row.at[axis.name]) };
      }),
      { title: "time", kind: "number", get: (row) => row.time_us || 0, text: (row) => (row.error ? "-" : time(row.time_us)) },
      { title: "from", kind: "number", get: (row) => row.low_us || 0, text: (row) => (row.error ? "-" : time(row.low_us)) },
      { title: "to", kind: "number", get: (row) => row.high_us || 0, text: (row) => (row.error ? "-" : time(row.high_us)) },
      { title: "bound", get: (row) => row.bound || row.error || "" }];
    if (isModel) {
      columns.push({ title: "tokens/s", kind: "number", get: (row) => row.tokens_per_second || 0, text: (row) => (row.error ? "-" : whole(row.tokens_per_second)) },
        { title: "memory", kind: "number", get: (row) => row.memory_bytes || 0, text: (row) => (row.error ? "-" : bytes(row.memory_bytes)) },
        { title: "fits", get: (row) => (row.error ? "-" : row.fits ? "yes" : "no") });
    }
    page.append(section("Points", "Every point of the sweep, with its 80 % interval.", ...table(each.points, columns, "points")));
  }

  function curveSection(each, good, along, isModel) {
    const lines = new Map();
    for (const point of good) {
      const others = each.axes.filter((axis) => axis !== along).map((axis) => `${axis.name} ${point.at[axis.name]}`);
      const label = [...(each.machines.length > 1 ? [point.machine] : []), ...others].join(", ");
      if (!lines.has(label)) lines.set(label, []);
      lines.get(label).push(point);
    }
    const most = 20; // curves that an eye can tell apart
    const all = [...lines].slice(0, most);
    const line = (of) => all.map(([name, points]) => ({ name, points: points.map((point) => ({ x: Number(point.at[along.name]), y: of(point) })).filter(({ x }) => x > 0) }));
    const note = lines.size > most ? `The first ${most} of ${lines.size} curves; the table has them all.` : "A curve per machine and other option.";
    const pair = make("div", { class: isModel ? "pair" : "" },
      section("Time", note, curves(line((point) => point.time_us), along.name, "time", time, axisTime, `Curves of the time over ${along.name}`)));
    if (isModel) {
      pair.append(section("Tokens per second", note, curves(line((point) => point.tokens_per_second), along.name, "tokens per second", (y) => `${whole(y)} tokens/s`, axisNumber, `Curves of tokens per second over ${along.name}`)));
    }
    return pair;
  }

  // ---- start

  page.replaceChildren();
  const documents = {
    "orrery.model_prediction/1": model, "orrery.call_prediction/1": call,
    "orrery.comparison/1": comparison, "orrery.sweep/1": sweep,
  };
  documents[data.schema](data);
  page.append(make("footer", {}, `Predicted by orrery, before it ran. Document ${data.schema}.`));
  const draw = () => charts.forEach((each) => each());
  draw();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  window.addEventListener("beforeprint", () => Object.values(Chart.instances).forEach((each) => each.resize()));
})();
