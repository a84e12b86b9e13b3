import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { START_SHELL } from './src/components/start-shell.ts'

/** Matches a module of a page. The group is the folder of the page, for example `payments`. */
const PAGE_MODULE = /\/src\/pages\/(\w+)\//

/** Writes what a page shows before its code has arrived into `index.html`. */
const startShell: Plugin = {
  name: 'start-shell',
  transformIndexHtml: (html) => html.replace('<div id="root"></div>', () => `<div id="root">${START_SHELL}</div>`),
}

// The server sends a strict Content Security Policy with every page: nothing inline, and nothing from other origins.
// oxlint-disable-next-line import/no-default-export -- Vite takes its configuration from the default export.
export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss(), startShell],
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    emptyOutDir: true,
    // The Content Security Policy rejects `data:` URLs, so small files must not be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: {
      output: {
        codeSplitting: {
          // By default, each set of modules that the same pages use is a file of its own. That would be about 120
          // files, most of them below 1 kB, and a browser would request most of them whenever it opens the dashboard.
          groups: [
            { name: 'index', tags: ['$initial'], priority: 2 },
            { name: 'shared', minShareCount: 2, priority: 1 },
            { name: (module) => PAGE_MODULE.exec(module)?.[1] ?? null },
          ],
        },
      },
    },
  },
})
