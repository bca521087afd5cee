/* SPDX-License-Identifier: MIT */
/* A lane: one metric of one GPU with its value, a bar and its history. All lanes of a view have the
 * same scale and the same time, so that GPU-Util and what the hardware did are seen side by side.
 * The table is that of src/panel/lanes.c. */

/* or: taken when the first has no number; peak: share of the peak for the bar. */
const LANES = [
    {
        group: 'What GPU-Util says',
        key: 'gpu_util',
        role: 'claim',
        words: 'share of time in which a kernel was there',
    },
    { key: 'gr_active', role: 'claim', words: 'the same, as the hardware counts it' },
    {
        group: 'What the hardware did',
        key: 'sm_active',
        role: 'real',
        words: 'SMs that held at least one warp',
    },
    {
        key: 'sm_throughput',
        or: 'sm_issue',
        role: 'real',
        words: 'of the most that the SMs could issue',
    },
    { key: 'tensor_active', role: 'real', words: 'cycles in which tensor pipes worked' },
    { key: 'occupancy', role: 'real', words: 'warps held, of the most that fit' },
    {
        key: 'dram_throughput',
        or: 'dram_read',
        role: 'memory',
        words: 'of the memory’s peak bandwidth',
    },
    { key: 'dram_write', role: 'memory', words: 'of the memory’s peak bandwidth' },
    {
        group: 'Links',
        key: 'pcie_rx',
        peak: 'pcie_rx_throughput',
        role: 'link',
        words: 'from the host',
    },
    { key: 'pcie_tx', peak: 'pcie_tx_throughput', role: 'link', words: 'to the host' },
    { key: 'nvlink_rx', peak: 'nvlink_rx_throughput', role: 'link', words: 'from other GPUs' },
    { key: 'nvlink_tx', peak: 'nvlink_tx_throughput', role: 'link', words: 'to other GPUs' },
    { group: 'Board', key: 'power', of: 'power_limit', role: 'board', words: 'of the limit' },
    { key: 'gpc_clock', or: 'clock_sm', role: 'board', label: 'SM clock', words: '' },
    { key: 'temperature', role: 'board', full: 100, words: 'a full bar is 100 °C' },
];

/* Below that a link has no work, and so on: what a chart's upper edge is at least. */
const FLOORS = { bytes_per_second: 10e6, hertz: 1e9 };

const UNITS_OF_WORK = [
    'sm_issue',
    'tensor_active',
    'fma_active',
    'alu_active',
    'fp64_active',
    'pcie_rx_throughput',
    'pcie_tx_throughput',
    'nvlink_rx_throughput',
    'nvlink_tx_throughput',
];

/* Which colour a metric has, by its key; others by their group. */
const ROLES = [
    [/^(gpu_util|gr_active)$/, 'claim'],
    [/^(dram|l2|mem)_/, 'memory'],
    [/^(pcie|nvlink)_/, 'link'],
];

function roleOf(key) {
    const [, role] = ROLES.find(([pattern]) => pattern.test(key)) || [];
    const isBoard = CATALOGUE[key] && /^(Clocks|Driver)$/.test(CATALOGUE[key].group);
    return role || (isBoard ? 'board' : 'real');
}

const labelOf = (key) => (CATALOGUE[key] ? CATALOGUE[key].label : key);

/* What the memory did: its total, else reads and writes together, which are shares of the same
 * peak. The key is then that of the larger part. */
function memoryOf(gpu) {
    const [all, read, write] = ['dram_throughput', 'dram_read', 'dram_write'].map((key) =>
        page.value(gpu, key),
    );
    const hasParts = isSound(read) && isSound(write);
    // the second witness's total beside the counters is of other seconds
    const isOther = hasParts && all && all.source !== read.source;
    if (isSound(all) && !isOther) return { key: 'dram_throughput', value: all };
    if (!hasParts) return undefined;
    const key = read.value >= write.value ? 'dram_read' : 'dram_write';
    return { key, value: { ...read, value: read.value + write.value }, label: 'DRAM read + write' };
}

/* The unit that worked hardest: {key, value, label}, or undefined. */
function busiestOf(gpu) {
    let best = memoryOf(gpu);
    for (const key of UNITS_OF_WORK) {
        const value = page.value(gpu, key);
        if (isSound(value) && (!best || value.value > best.value.value)) best = { key, value };
    }
    return best && { label: labelOf(best.key), ...best };
}

/* The bar's share 0..1; of the peak where one is known; NaN: there is none. */
function shareOf(gpu, spec, key, value) {
    if (value.unit === 'ratio') return value.value;
    const other = spec.peak || spec.of,
        of = other && page.value(gpu, other);
    if (hasNumber(of) && of.value > 0) return spec.peak ? of.value : value.value / of.value;
    return spec.full ? value.value / spec.full : NaN;
}

class Lane {
    /* compact: without words, for the overview */
    constructor(parent, index, spec, compact) {
        this.index = index;
        this.spec = spec;
        this.root = makeIn(parent, 'div', `lane role-${spec.role}${compact ? ' compact' : ''}`);
        const name = makeIn(this.root, 'div', 'lane-name');
        this.label = makeIn(name, 'span', 'lane-label');
        if (!compact) makeIn(name, 'span', 'lane-words', spec.words);
        const number = makeIn(this.root, 'div', 'lane-value');
        this.number = makeIn(number, 'span', 'number');
        this.spread = makeIn(number, 'span', 'spread');
        this.bar = makeIn(this.root, 'div', 'bar');
        for (const part of ['most', 'fill', 'now']) makeIn(this.bar, 'span', part);
        this.top = makeIn(this.root, 'div', 'lane-top');
        this.canvas = makeChart(this.root, 'chart');
        this.reason = makeIn(this.root, 'p', 'lane-reason');
        this.topValue = 1;
    }

    /* Which metric is shown: the first with a number. */
    choose(gpu) {
        const { key, or } = this.spec;
        return or && !hasNumber(page.value(gpu, key)) ? or : key;
    }

    update(gpu) {
        const key = (this.key = this.choose(gpu));
        const value = page.value(gpu, key),
            known = hasNumber(value);
        this.unit = value ? value.unit : '';
        setAttribute(this.root, 'data-metric', key);
        setText(this.label, this.spec.label || labelOf(key));
        setClass(this.root, 'no-number', !known);
        setClass(this.root, 'doubt', known && value.state !== 'ok');
        setText(this.number, valueText(value));
        setText(this.reason, reasonText(value));
        setText(this.spread, known && value.min !== undefined ? this.spreadText(value) : '');
        const share = known ? shareOf(gpu, this.spec, key, value) : NaN;
        setClass(this.root, 'no-bar', !Number.isFinite(share));
        this.share = share;
        this.value = value;
        this.updateBar(gpu);
    }

    /* How far the samples of the window lay apart. */
    spreadText(value) {
        if (!(value.samples > 1)) return value.past ? '' : 'one reading';
        const low = format(value.unit, value.min, value.resolution),
            high = format(value.unit, value.max, value.resolution);
        return low === high ? 'steady' : `${low} – ${high}`;
    }

    updateBar(gpu) {
        const { bar, value, share } = this,
            limit = (v) => String(Math.min(Math.max(v, 0), 1).toFixed(4));
        if (!Number.isFinite(share)) {
            for (const name of ['role', 'aria-label', 'aria-valuenow', 'aria-valuetext'])
                bar.removeAttribute(name);
            return;
        }
        const perUnit = value.value ? share / value.value : 0;
        setVariable(bar, '--v', limit(share));
        setVariable(
            bar,
            '--most',
            limit(value.samples > 1 && !this.spec.peak ? value.max * perUnit : share),
        );
        setAttribute(bar, 'role', 'meter');
        setAttribute(bar, 'aria-label', `GPU ${gpu.index} ${this.label.textContent}`);
        setAttribute(bar, 'aria-valuemin', 0);
        setAttribute(bar, 'aria-valuemax', 100);
        setAttribute(bar, 'aria-valuenow', (100 * share).toFixed(1));
        setAttribute(bar, 'aria-valuetext', valueText(value));
        this.perUnit = this.spec.peak ? NaN : perUnit;
    }

    /* The newest frame: a tick on the bar. */
    tick(values) {
        const now = values && values[this.key];
        const mean = now ? now[1] : NaN;
        const at = this.unit === 'ratio' ? mean : mean * this.perUnit;
        setClass(this.bar, 'ticking', Number.isFinite(at));
        if (Number.isFinite(at))
            setVariable(this.bar, '--now', Math.min(Math.max(at, 0), 1).toFixed(4));
    }

    draw(withWords) {
        if (!this.key || !hasNumber(this.value)) return;
        const c = page.trace.columns(this.index, this.key, page.edgeMs(), page.seconds);
        const limit = this.spec.of ? page.value(page.gpu(this.index), this.spec.of) : undefined;
        this.topValue =
            this.unit === 'ratio'
                ? 1
                : this.spec.full
                  ? this.spec.full
                  : hasNumber(limit)
                    ? limit.value
                    : topOf(c, FLOORS[this.unit] || 1e-9);
        drawChart(this.canvas, c, {
            colour: this.spec.role,
            top: this.topValue,
            cursorMs: page.cursorMs,
        });
        if (!withWords) return;
        setText(
            this.top,
            Number.isFinite(this.share) ? '' : `top ${format(this.unit, this.topValue)}`,
        );
        setAttribute(
            this.canvas,
            'aria-label',
            `GPU ${this.index} ${this.label.textContent}, last ${duration(page.seconds * 1000)}: ${chartWords(c, this.unit)}`,
        );
    }
}
