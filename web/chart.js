/* SPDX-License-Identifier: MIT */
/* A chart on a canvas: solid up to the least of a column, lighter up to its most, a line at its
 * mean; nothing where nothing was measured. Columns are drawn as steps, since that is what was
 * measured. */

const charts = new Map(); // canvas → its size in CSS pixels

const chartSizes = new ResizeObserver((entries) => {
    for (const entry of entries) {
        const chart = charts.get(entry.target);
        if (!chart) continue;
        chart.width = entry.contentRect.width;
        chart.height = entry.contentRect.height;
        chart.dirty = true;
    }
    page.draw();
});

function makeChart(parent, className) {
    const canvas = makeIn(parent, 'canvas', className);
    canvas.setAttribute('role', 'img');
    charts.set(canvas, { width: 0, height: 0 });
    chartSizes.observe(canvas);
    return canvas;
}

/* Those that are no longer on the page. */
function forgetCharts() {
    for (const canvas of charts.keys())
        if (!canvas.isConnected) {
            chartSizes.unobserve(canvas);
            charts.delete(canvas);
        }
}

/* Colours of the style sheet; read again when the theme changes. */
const colours = {};
function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['claim', 'real', 'memory', 'link', 'board', 'line', 'text'])
        colours[name] = style.getPropertyValue(`--${name}`).trim();
}

function fitCanvas(canvas) {
    const { width, height } = charts.get(canvas),
        ratio = devicePixelRatio || 1;
    const w = Math.round(width * ratio),
        h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
    }
    const pen = canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return { pen, width, height };
}

/* Calls use(from, to) for each run of columns that were measured. */
function eachRun(c, use) {
    for (let from = 0; from < c.n; from++) {
        if (!Number.isFinite(c.mean[from])) continue;
        let to = from;
        while (to < c.n && Number.isFinite(c.mean[to])) to++;
        use(from, to);
        from = to;
    }
}

/* The path of a run's upper edge, from left to right (or back). */
function traceEdge(pen, values, from, to, x, y, back) {
    for (let k = from; k < to; k++) {
        const i = back ? from + to - 1 - k : k;
        pen.lineTo(x(back ? i + 1 : i), y(values[i]));
        pen.lineTo(x(back ? i : i + 1), y(values[i]));
    }
}

function drawGrid(pen, width, height) {
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    for (const [y, alpha] of [
        [0.5, 0.5],
        [Math.round(height / 2) + 0.5, 0.5],
        [height - 0.5, 1],
    ]) {
        pen.globalAlpha = alpha;
        pen.beginPath();
        pen.moveTo(0, y);
        pen.lineTo(width, y);
        pen.stroke();
    }
}

/* c: of Trace.columns; top: the value at the upper edge; cursorMs: a moment to mark, or null. */
function drawChart(canvas, c, { colour, top, cursorMs = null, grid = true }) {
    const { pen, width, height } = fitCanvas(canvas);
    if (width < 2 || height < 2) return;
    const x = (i) => (i / c.n) * width;
    const y = (v) => height - 1 - Math.min(Math.max(v / top, 0), 1) * (height - 2);
    if (grid) drawGrid(pen, width, height);
    pen.fillStyle = pen.strokeStyle = colours[colour];
    pen.lineWidth = 1.5;
    pen.lineJoin = 'round';
    eachRun(c, (from, to) => {
        pen.globalAlpha = 0.34;
        pen.beginPath();
        pen.moveTo(x(from), height);
        traceEdge(pen, c.min, from, to, x, y, false);
        pen.lineTo(x(to), height);
        pen.fill();
        pen.globalAlpha = 0.2;
        pen.beginPath();
        traceEdge(pen, c.max, from, to, x, y, false);
        traceEdge(pen, c.min, from, to, x, y, true);
        pen.fill();
        pen.globalAlpha = 1;
        pen.beginPath();
        traceEdge(pen, c.mean, from, to, x, y, false);
        pen.stroke();
    });
    if (cursorMs === null) return;
    const at = ((cursorMs - c.endMs) / c.stepMs + c.n) / c.n;
    pen.strokeStyle = colours.text;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(Math.round(at * width) + 0.5, 0);
    pen.lineTo(Math.round(at * width) + 0.5, height);
    pen.stroke();
}

/* The most of all columns; at least floor. */
function topOf(c, floor) {
    let top = floor;
    for (let i = 0; i < c.n; i++) if (c.max[i] > top) top = c.max[i];
    return top;
}

/* What the picture says, for those who do not see it. */
function chartWords(c, unit) {
    let min = Infinity,
        max = -Infinity,
        sum = 0,
        n = 0;
    for (let i = 0; i < c.n; i++) {
        if (!Number.isFinite(c.mean[i])) continue;
        min = Math.min(min, c.min[i]);
        max = Math.max(max, c.max[i]);
        sum += c.mean[i];
        n++;
    }
    if (!n) return 'nothing was measured';
    return `mean ${format(unit, sum / n)}, least ${format(unit, min)}, most ${format(unit, max)}, measured ${Math.round((100 * n) / c.n)} % of the time`;
}
