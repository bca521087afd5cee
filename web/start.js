/* SPDX-License-Identifier: MIT */
/* Dark and light, and the beginning. */

const THEMES = ['system', 'dark', 'light'];
const STORED = 'smeff-theme';
const CALM = matchMedia('(prefers-reduced-motion: reduce)').matches;
const DARK = matchMedia('(prefers-color-scheme: dark)');

Object.assign(page, {
    setTheme(theme) {
        this.theme = THEMES.includes(theme) ? theme : 'system';
        const dark = this.theme === 'system' ? DARK.matches : this.theme === 'dark';
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        setText(byId('theme'), { system: 'Auto', dark: 'Dark', light: 'Light' }[this.theme]);
        byId('theme').setAttribute(
            'aria-label',
            `Colours: ${this.theme === 'system' ? 'as the system' : this.theme}`,
        );
        readColours();
        this.draw();
    },

    nextTheme() {
        const next = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
        try {
            localStorage.setItem(STORED, next);
        } catch {} // a browser may keep nothing
        this.setTheme(next);
    },

    start() {
        fillHelp(this.help);
        let stored = 'system';
        try {
            stored = localStorage.getItem(STORED);
        } catch {} // as above
        this.setTheme(stored);
        DARK.addEventListener('change', () => this.setTheme(this.theme));
        addEventListener('hashchange', () => this.route());
        document.addEventListener('visibilitychange', () => this.update());
        byId('theme').addEventListener('click', () => this.nextTheme());
        byId('freeze').addEventListener('click', () => this.toggleFreeze());
        byId('help-open').addEventListener('click', () => this.toggleHelp());
        byId('help-close').addEventListener('click', () => this.help.close());
        byId('state').addEventListener('click', () => this.feed.retryNow());
        byId('skip').addEventListener('click', (event) => {
            event.preventDefault();
            byId('main').focus();
        });
        this.feed = new Feed(this.taker, CALM ? 1 : 5);
        setInterval(() => document.hidden || this.showState(), 200);
    },
});

page.start();
