/* SPDX-License-Identifier: MIT */
/* Freezing, looking back, the scale of time; and what narrows a list. */

Object.assign(page, {
    freeze() {
        if (!this.status || this.frozen) return;
        this.frozen = { edgeMs: this.trace.newestMs || this.takenMs, status: this.status };
    },

    thaw() {
        this.frozen = null;
        this.cursorMs = null;
        this.pointed = false;
        this.update();
    },

    toggleFreeze() {
        if (this.frozen) return this.thaw();
        this.freeze();
        this.update();
    },

    look(columns) {
        if (!this.trace.newestMs) return;
        this.freeze();
        const step = this.seconds > GRAINS[0].seconds ? 1000 : 250,
            edge = this.edgeMs();
        const at = (this.cursorMs === null || this.pointed ? edge : this.cursorMs) + columns * step;
        this.pointed = false;
        this.cursorMs =
            at >= edge ? null : Math.max(at, this.trace.oldestMs, edge - this.seconds * 1000);
        this.update();
    },

    lookOldest() {
        if (!this.trace.newestMs) return;
        this.freeze();
        this.pointed = false;
        this.cursorMs = Math.max(this.trace.oldestMs, this.edgeMs() - this.seconds * 1000);
        this.update();
    },

    /* share: where on a chart, from 0 (oldest) to 1; null: nowhere. Without freezing. */
    point(share) {
        if (this.cursorMs !== null && !this.pointed) return; // the keys' moment stays
        const edge = this.edgeMs();
        this.pointed = share !== null && edge > 0;
        this.cursorMs = this.pointed ? edge - (1 - share) * this.seconds * 1000 : null;
        this.update();
    },

    setScale(seconds) {
        this.seconds = seconds;
        for (const button of document.querySelectorAll('[data-seconds]'))
            button.setAttribute('aria-pressed', Number(button.dataset.seconds) === seconds);
        this.update();
    },

    zoom(by) {
        this.setScale(
            SCALES[Math.min(Math.max(SCALES.indexOf(this.seconds) + by, 0), SCALES.length - 1)],
        );
    },

    setSort(i) {
        this.sort = i;
        this.update();
    },

    setFilter(text) {
        this.filter = text;
        const input = document.querySelector('.filter');
        if (input && input.value !== text) input.value = text;
        this.update();
    },

    focusFilter() {
        const input = document.querySelector('.filter');
        if (input) input.focus();
    },
});
