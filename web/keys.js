/* SPDX-License-Identifier: MIT */
/* The keys of the panel, where a browser leaves them free. */

const KEYS = [
    ['?', 'this help'],
    ['1 – 9', 'one GPU; 1 is the first'],
    ['0  o', 'all GPUs'],
    ['m  p', 'every metric; processes'],
    ['↑ ↓  k j', 'another GPU (in lists: scroll)'],
    ['← →  h l', 'look back and forth (freezes); < > in big steps'],
    ['Home  End', 'the oldest moment that is kept; now'],
    ['space', 'freeze, go on'],
    ['+ −', 'time scale of the charts'],
    ['s', 'sort: number, GPU-Util, gap, power, memory'],
    ['/', 'filter by name (Enter keeps it, Esc ends it)'],
    ['t', 'dark, light, as the system'],
    ['Esc', 'one step back'],
];

const STEP_COLUMNS = 4,
    PAGE_COLUMNS = 60;

const PRESSED = {
    '?': () => page.toggleHelp(),
    o: () => page.go('overview'),
    0: () => page.go('overview'),
    m: () => page.toggle('metrics'),
    p: () => page.toggle('processes'),
    ' ': () => page.toggleFreeze(),
    ArrowLeft: () => page.look(-STEP_COLUMNS),
    h: () => page.look(-STEP_COLUMNS),
    ArrowRight: () => page.look(STEP_COLUMNS),
    l: () => page.look(STEP_COLUMNS),
    '<': () => page.look(-PAGE_COLUMNS),
    '>': () => page.look(PAGE_COLUMNS),
    Home: () => page.lookOldest(),
    End: () => page.thaw(),
    '+': () => page.zoom(-1),
    '=': () => page.zoom(-1),
    '-': () => page.zoom(1),
    s: () => page.setSort((page.sort + 1) % SORTS.length),
    '/': () => page.focusFilter(),
    t: () => page.nextTheme(),
    Escape: () => page.back(),
};

/* True when the key was taken. */
function pressKey(key) {
    if (/^[1-9]$/.test(key)) return page.openNumber(Number(key) - 1);
    const down = key === 'ArrowDown' || key === 'j',
        up = key === 'ArrowUp' || key === 'k';
    if (down || up) return page.moveGpu(down ? 1 : -1);
    if (!Object.hasOwn(PRESSED, key)) return false;
    PRESSED[key]();
    return true;
}

addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target,
        tag = target.tagName;
    if (page.help.open) {
        if (event.key === '?') page.toggleHelp();
        return; // Esc closes a dialogue by itself
    }
    if (tag === 'INPUT') {
        if (event.key === 'Escape') page.setFilter('');
        if (event.key === 'Escape' || event.key === 'Enter') target.blur();
        return;
    }
    if ((tag === 'BUTTON' || tag === 'A') && (event.key === ' ' || event.key === 'Enter')) return;
    if (pressKey(event.key)) event.preventDefault();
});

function fillHelp(dialog) {
    const list = dialog.querySelector('dl');
    for (const [keys, words] of KEYS) {
        makeIn(list, 'dt', '', keys);
        makeIn(list, 'dd', '', words);
    }
}
