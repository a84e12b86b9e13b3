import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The server sends a strict content security policy with every page: nothing inline, nothing from elsewhere.
// oxlint-disable-next-line import/no-default-export -- Vite takes its configuration from the default export.
export default defineConfig({
  base: '/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    emptyOutDir: true,
    // A `data:` address would be refused by the policy wherever it does not name `data:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
