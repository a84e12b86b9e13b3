import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The server sends a strict Content Security Policy with every page: nothing inline, and nothing from other origins.
// oxlint-disable-next-line import/no-default-export -- Vite takes its configuration from the default export.
export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    emptyOutDir: true,
    // The Content Security Policy rejects `data:` URLs, so small files must not be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
