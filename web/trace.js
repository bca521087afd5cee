/* SPDX-License-Identifier: MIT */
/* The last ten minutes of each metric of each GPU, as columns with least, mean and most, so that a
 * burst of milliseconds is seen at any scale. Two grains: columns of 1 s, and of a quarter of a
 * second for the last 150 s. What was not measured stays NaN. */

const GRAINS = [
    { step: 250, kept: 800, seconds: 150 },
    { step: 1000, kept: 1200, seconds: 600 },
];
const COLUMNS_MAX = 600;
const HOLD_MAX_MS = 20000;

/* Sums and bits have no history. */
const hasTrace = (key) => !CATALOGUE[key] || CATALOGUE[key].hasTrace;

class Ring {
    constructor(kept) {
        this.kept = kept;
        this.column = new Float64Array(kept).fill(-1); // which column a slot holds
        this.min = new Float32Array(kept);
        this.max = new Float32Array(kept);
        this.sum = new Float32Array(kept);
        this.n = new Uint16Array(kept);
    }

    add(column, min, mean, max) {
        const i = column % this.kept;
        if (this.column[i] > column) return; // older than what is kept
        if (this.column[i] !== column) {
            this.column[i] = column;
            this.min[i] = min;
            this.max[i] = max;
            this.sum[i] = mean;
            this.n[i] = 1;
            return;
        }
        this.min[i] = Math.min(this.min[i], min);
        this.max[i] = Math.max(this.max[i], max);
        this.sum[i] += mean;
        this.n[i]++;
    }
}

class Series {
    constructor() {
        this.rings = GRAINS.map((g) => new Ring(g.kept));
        this.lastMs = 0;
        this.intervals = [0, 0]; // between the last readings
    }

    /* What the samples between two moments were. Where that is longer than the finest column, each
     * column in it gets them: in which they fell is not known. */
    add(fromMs, toMs, min, mean, max) {
        const isWide = toMs - fromMs > GRAINS[0].step;
        GRAINS.forEach(({ step }, k) => {
            const first = Math.floor((isWide ? fromMs : (fromMs + toMs) / 2) / step);
            const last = isWide ? Math.floor((toMs - 1) / step) : first;
            for (let column = first; column <= last; column++)
                this.rings[k].add(column, min, mean, max);
        });
        if (this.lastMs && toMs > this.lastMs)
            this.intervals = [this.intervals[1], toMs - this.lastMs];
        this.lastMs = Math.max(this.lastMs, toMs);
    }

    /* A reading that comes seldom (the driver's, GPM's) holds until the next one, two of its periods
     * at most. The smaller of two intervals, so that a gap is not taken for a period. */
    holdMs() {
        const period = Math.min(...this.intervals);
        return period > 400 ? Math.min(2 * period, HOLD_MAX_MS) : 0;
    }
}

class Trace {
    constructor() {
        this.series = new Map();
        this.newestMs = 0;
        this.oldestMs = 0;
        this.frameMs = 0; // the end of the last frame
        this.out = {
            min: new Float32Array(COLUMNS_MAX),
            mean: new Float32Array(COLUMNS_MAX),
            max: new Float32Array(COLUMNS_MAX),
            n: 0,
        };
    }

    of(gpu, key) {
        const name = `${gpu} ${key}`;
        let series = this.series.get(name);
        if (!series) this.series.set(name, (series = new Series()));
        return series;
    }

    see(ms) {
        this.newestMs = Math.max(this.newestMs, ms);
        if (!this.oldestMs || ms < this.oldestMs) this.oldestMs = ms;
        this.oldestMs = Math.max(this.oldestMs, this.newestMs - 600000);
    }

    addFrame(frame) {
        const toMs = msOfNs(frame.t1_ns);
        if (toMs < this.frameMs - 5000) Object.assign(this, new Trace()); // its clock was set back
        // a slow reading in it can begin long before: then since the frame before, 1 s at most
        const fromMs = Math.max(msOfNs(frame.t0_ns), this.frameMs, toMs - 1000);
        this.frameMs = toMs;
        this.see(toMs);
        for (const gpu of frame.gpus)
            for (const [key, [min, mean, max]] of Object.entries(gpu.values))
                if (typeof mean === 'number' && hasTrace(key))
                    this.of(gpu.index, key).add(fromMs, toMs, min, mean, max);
    }

    /* Without frames (when the stream is refused): the window of each second. */
    addStatus(status) {
        for (const gpu of status.gpus) {
            const begin = Date.parse(gpu.start),
                end = begin + gpu.window_s * 1000;
            if (!(end > 0)) continue;
            this.see(end);
            for (const [key, m] of Object.entries(gpu.metrics))
                if (hasNumber(m) && m.state !== 'stale' && hasTrace(key))
                    this.of(gpu.index, key).add(
                        begin,
                        end,
                        m.min ?? m.value,
                        m.value,
                        m.max ?? m.value,
                    );
        }
    }

    /* What /history.json gave for one grain; columns that are known here already are newer. */
    addHistory(history, grain) {
        const begin = msOfNs(history.begin_ns),
            step = msOfNs(history.step_ns);
        let first = Infinity;
        for (const [key, columns] of Object.entries(history.values)) {
            const series = this.of(history.gpu, key);
            columns.mean.forEach((mean, i) => {
                if (typeof mean !== 'number') return;
                const ms = begin + (i + 0.5) * step,
                    column = Math.floor(ms / GRAINS[grain].step);
                const ring = series.rings[grain];
                if (ring.column[column % ring.kept] !== column)
                    ring.add(column, columns.min[i], mean, columns.max[i]);
                first = Math.min(first, ms);
                series.lastMs = Math.max(series.lastMs, ms);
            });
        }
        if (first < Infinity) this.see(first);
    }

    /* n columns that end at endMs, into this.out (scratch, valid until the next call). */
    columns(gpu, key, endMs, seconds) {
        const grain = seconds > GRAINS[0].seconds ? 1 : 0,
            step = GRAINS[grain].step;
        const series = this.series.get(`${gpu} ${key}`),
            out = this.out;
        const end = Math.ceil(endMs / step),
            n = Math.min((seconds * 1000) / step, COLUMNS_MAX);
        const hold = series ? Math.ceil(series.holdMs() / step) : 0;
        let last = -1,
            known = -Infinity;
        out.n = n;
        out.endMs = end * step;
        out.stepMs = step;
        const ring = series && series.rings[grain];
        for (let i = -hold; i < n; i++) {
            const column = end - n + i,
                slot = ring ? ((column % ring.kept) + ring.kept) % ring.kept : 0;
            if (ring && ring.column[slot] === column) {
                last = slot;
                known = column;
            }
            if (i < 0) continue;
            const shown = last >= 0 && column - known <= hold && column * step < endMs;
            out.min[i] = shown ? ring.min[last] : NaN;
            out.max[i] = shown ? ring.max[last] : NaN;
            out.mean[i] = shown ? ring.sum[last] / ring.n[last] : NaN;
        }
        return out;
    }

    /* One moment: {min, mean, max} of the second before ms, or undefined. */
    at(gpu, key, ms) {
        const grain = this.newestMs - ms > GRAINS[0].seconds * 1000 ? 1 : 0;
        const c = this.columns(gpu, key, ms, grain ? GRAINS[0].seconds + 1 : 1);
        let min = Infinity,
            max = -Infinity,
            sum = 0,
            n = 0;
        for (let i = c.n - Math.max(1, 1000 / c.stepMs); i < c.n; i++) {
            if (!Number.isFinite(c.mean[i])) continue;
            min = Math.min(min, c.min[i]);
            max = Math.max(max, c.max[i]);
            sum += c.mean[i];
            n++;
        }
        return n ? { min, mean: sum / n, max } : undefined;
    }
}
