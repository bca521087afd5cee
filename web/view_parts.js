/* SPDX-License-Identifier: MIT */
/* What views have in common. */

const NO_GPU = 'No GPU is known. On that machine, smeff doctor says why.';

/* Links to the same view of other GPUs; nothing where there is one. */
function makeChooser(parent) {
    const root = makeIn(parent, 'nav', 'choice');
    root.setAttribute('aria-label', 'GPU');
    return root;
}

function fillChooser(root, status, view, index) {
    setHidden(root, status.gpus.length < 2);
    setChildren(
        root,
        status.gpus,
        () => make('a'),
        (link, gpu) => {
            setText(link, `GPU ${gpu.index}`);
            setAttribute(link, 'href', `#/${view}/${gpu.index}`);
            if (gpu.index === index) setAttribute(link, 'aria-current', 'true');
            else link.removeAttribute('aria-current');
        },
    );
}

const SCALES = [30, 60, 120, 300, 600];

function makeScales(parent) {
    const root = makeIn(parent, 'div', 'choice scales');
    root.setAttribute('role', 'group');
    root.setAttribute('aria-label', 'Time that charts show');
    for (const seconds of SCALES) {
        const button = makeIn(
            root,
            'button',
            '',
            duration(seconds * 1000).replace(/^60 s$/, '1 min'),
        );
        button.dataset.seconds = seconds;
        button.setAttribute('aria-pressed', seconds === page.seconds);
        button.addEventListener('click', () => page.setScale(seconds));
    }
}

function makeFilter(parent, what) {
    const input = makeIn(parent, 'input', 'filter');
    input.type = 'search';
    input.placeholder = `filter: ${what}`;
    input.setAttribute('aria-label', `Filter by ${what}`);
    input.value = page.filter;
    input.addEventListener('input', () => page.setFilter(input.value));
}

/* A pointer over a chart looks at that moment, in all lanes. */
function watchPointer(canvas) {
    canvas.addEventListener('pointermove', (event) => {
        const box = canvas.getBoundingClientRect();
        page.point((event.clientX - box.left) / box.width);
    });
    canvas.addEventListener('pointerleave', () => page.point(null));
}
