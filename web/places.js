/* SPDX-License-Identifier: MIT */
/* Where one is: the address has it after its #, so that it can be kept and sent on. */

Object.assign(page, {
    names: { overview: OverviewView, gpu: GpuView, metrics: MetricsView, processes: ProcessesView },

    /* The view that is wanted, and its GPU: that of the address, else the last one, else the first. */
    place() {
        const [, name, number] = /^#\/(\w+)(?:\/(\d+))?$/.exec(location.hash) || [];
        const gpus = this.status ? this.status.gpus.map((gpu) => gpu.index) : [];
        const usual = gpus.length === 1 ? 'gpu' : 'overview';
        const wanted = Object.hasOwn(this.names, name || '') ? name : usual;
        if (wanted !== 'gpu' && wanted !== 'metrics') return { name: wanted, index: 0 };
        if (!gpus.length) return { name: 'overview', index: 0 };
        const known = [number === undefined ? NaN : Number(number), this.lastGpu, gpus[0]];
        return { name: wanted, index: known.find((index) => gpus.includes(index)) };
    },

    route() {
        if (!this.status) return;
        const { name, index } = this.place();
        if (this.view && this.view.name === name && this.view.index === index) return;
        if (name === 'gpu' || name === 'metrics') this.lastGpu = index;
        if (name === 'overview' || name === 'gpu') this.before = name;
        const main = byId('main');
        main.replaceChildren();
        forgetCharts();
        const root = makeIn(main, 'div', `view ${name}`);
        if (this.view && this.view.name !== name) this.filter = '';
        this.view = { name, index, part: new this.names[name](root, index), root };
        for (const link of document.querySelectorAll('[data-view]')) {
            if (link.dataset.view === name) link.setAttribute('aria-current', 'page');
            else link.removeAttribute('aria-current');
        }
        this.update();
    },

    go(name, index) {
        const hash = `#/${name}${index === undefined ? '' : `/${index}`}`;
        if (location.hash !== hash) location.hash = hash;
        else this.route();
    },

    toggle(name) {
        this.go(this.view && this.view.name === name ? this.before || 'overview' : name);
    },

    openNumber(number) {
        const gpu = this.status && this.status.gpus[number];
        if (!gpu) return false;
        this.go(this.view.name === 'metrics' ? 'metrics' : 'gpu', gpu.index);
        return true;
    },

    /* Another GPU: the focus in the overview, the view itself elsewhere; lists scroll. */
    moveGpu(by) {
        if (!this.view) return false;
        if (this.view.name === 'overview') {
            const cards = [...document.querySelectorAll('.card')];
            const at = cards.indexOf(document.activeElement);
            const next = cards[at < 0 ? 0 : Math.min(Math.max(at + by, 0), cards.length - 1)];
            if (next) next.focus();
            return Boolean(next);
        }
        if (this.view.name !== 'gpu' || this.status.gpus.length < 2) return false;
        const at = this.status.gpus.findIndex((gpu) => gpu.index === this.view.index);
        return this.openNumber(Math.min(Math.max(at + by, 0), this.status.gpus.length - 1));
    },

    back() {
        if (this.view.name === 'metrics' || this.view.name === 'processes') {
            if (this.filter) this.setFilter('');
            else this.go(this.before || 'overview');
        } else if (this.filter) this.setFilter('');
        else if (this.frozen) this.thaw();
        else this.go('overview');
    },

    toggleHelp() {
        if (this.help.open) this.help.close();
        else this.help.showModal();
    },
});
