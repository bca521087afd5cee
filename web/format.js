/* SPDX-License-Identifier: MIT */
/* Numbers, times and reasons for people. `format` gives the very text that unit_format of
 * src/metric/unit.c gives (tests/page compares both on some thousands of values). */

/* scale: catalogue value × scale = the plain step; step: between two names; plain: which name is
 * the plain step; most: decimals at most; same: so many decimals at every step but the first. */
const UNITS = {
    ratio: { scale: 100, step: 1000, plain: 0, most: 2, names: ['%'] },
    bytes: {
        scale: 1,
        step: 1024,
        plain: 0,
        most: 1,
        same: 1,
        names: ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'],
    },
    bytes_per_second: {
        scale: 1,
        step: 1000,
        plain: 0,
        most: 2,
        names: ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s'],
    },
    hertz: { scale: 1, step: 1000, plain: 0, most: 2, names: ['Hz', 'kHz', 'MHz', 'GHz'] },
    watts: { scale: 1, step: 1000, plain: 0, most: 2, names: ['W', 'kW', 'MW'] },
    joules: { scale: 1, step: 1000, plain: 0, most: 2, names: ['J', 'kJ', 'MJ', 'GJ', 'TJ'] },
    celsius: { scale: 1, step: 1000, plain: 0, most: 1, names: ['°C'] },
    seconds: { scale: 1, step: 1000, plain: 3, most: 2, names: ['ns', 'µs', 'ms', 's'] },
    count: { scale: 1, step: 1000, plain: 0, most: 2, names: [''] },
    tokens_per_second: { scale: 1, step: 1000, plain: 0, most: 2, names: ['tokens/s'] },
    bytes_per_token: {
        scale: 1,
        step: 1000,
        plain: 0,
        most: 1,
        names: ['B/token', 'kB/token', 'MB/token', 'GB/token', 'TB/token'],
    },
    joules_per_token: {
        scale: 1,
        step: 1000,
        plain: 1,
        most: 1,
        names: ['mJ/token', 'J/token', 'kJ/token'],
    },
};

const NO_NUMBER = '–';

/* 1e-9: log10(0.01) may come out as -2.0000…1 */
const exponent10 = (positive) => Math.floor(Math.log10(positive) + 1e-9);

/* Decimals that give three digits of magnitude, but none finer than resolution (> 0). */
function decimalsFor(unit, step, magnitude, resolution) {
    let decimals = unit.most;
    if (unit.same !== undefined) decimals = step === 0 ? 0 : unit.same;
    else if (magnitude >= 1) decimals = Math.min(Math.max(2 - exponent10(magnitude), 0), unit.most);
    if (resolution > 0) decimals = Math.min(decimals, -exponent10(resolution));
    return Math.max(decimals, -9);
}

function roundTo(x, decimals) {
    const unit = 10 ** Math.abs(decimals);
    return decimals >= 0 ? Math.round(x * unit) / unit : Math.round(x / unit) * unit;
}

function printNumber(negative, magnitude, decimals, name) {
    const digits = Math.max(decimals, 0);
    let text;
    if (magnitude >= 1e12)
        text = magnitude.toFixed(0); // beyond the last prefix
    else {
        const n = String(Math.round(magnitude * 10 ** digits)).padStart(digits + 1, '0');
        text = digits ? `${n.slice(0, -digits)}.${n.slice(-digits)}` : n;
    }
    return (negative && magnitude > 0 ? '-' : '') + text + (name ? ` ${name}` : '');
}

function formatFlags(v) {
    return v >= 0 && v <= Number.MAX_SAFE_INTEGER && Number.isInteger(v)
        ? `0x${v.toString(16)}`
        : NO_NUMBER;
}

/* v in the unit of that JSON name; resolution: the step of the source in the same unit, 0 = fine. */
function format(name, v, resolution = 0) {
    if (typeof v !== 'number' || !Number.isFinite(v * 100)) return NO_NUMBER;
    if (name === 'flags') return formatFlags(v);
    const unit = UNITS[name];
    if (!unit) return String(v); // a unit that is newer than this page
    if (!(resolution > 0 && Number.isFinite(resolution * 1e12))) resolution = 0;
    const negative = v < 0,
        plain = Math.abs(v) * unit.scale,
        last = unit.names.length - 1;
    if (plain === 0 || (name === 'count' && Number.isInteger(plain)))
        return printNumber(negative, plain, 0, unit.names[unit.plain]);
    let i = 0;
    while (i < last && plain / unit.step ** (i - unit.plain) >= unit.step) i++;
    for (; ; i++) {
        const size = unit.step ** (i - unit.plain);
        const known = (resolution * unit.scale) / size;
        const decimals = decimalsFor(unit, i, plain / size, known);
        const shown = roundTo(plain / size, decimals);
        if (shown >= unit.step && i < last) continue; // 999.6 kB/s is 1.00 MB/s
        return printNumber(
            negative,
            shown,
            Math.min(decimals, decimalsFor(unit, i, shown, known)),
            unit.names[i],
        );
    }
}

/* ---- times ---- */

const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour12: false });

/* "0.3 s", "12 s", "4.5 min" */
function duration(ms) {
    const s = Math.max(ms, 0) / 1000;
    if (s < 9.95) return `${s.toFixed(1)} s`;
    return s < 119.5 ? `${Math.round(s)} s` : `${Number((s / 60).toPrecision(3))} min`;
}

/* Milliseconds of decimal nanoseconds, which are beyond what a Number holds. */
const msOfNs = (ns) => Number(ns) / 1e6;

/* ---- values with a state ---- */

const hasNumber = (value) => value !== undefined && typeof value.value === 'number';
const isSound = (value) => hasNumber(value) && value.state === 'ok';

/* "93 %", "93 %?" suspect, "~93 %" stale, or the word of the state. */
function valueText(value) {
    if (!value) return 'not known';
    if (!hasNumber(value)) return value.state.replace('_', ' ');
    const text =
        value.words !== undefined ? value.words : format(value.unit, value.value, value.resolution);
    return (value.state === 'stale' ? '~' : '') + text + (value.state === 'suspect' ? '?' : '');
}

/* Why there is no number, or why it is not to be trusted; '' for a sound one. */
function reasonText(value) {
    if (!value) return 'not known: this version of smeff does not send it';
    return value.state === 'ok'
        ? ''
        : `${value.state.replace('_', ' ')}: ${value.reason || 'no reason was given'}`;
}
