/** Bundles the program into `dist/coracle.js`: one file, so that starting it reads one file. */
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const out = join(root, 'dist')

rmSync(out, { recursive: true, force: true })
const started = performance.now()
await build({
  entryPoints: { coracle: join(root, 'packages/cli/src/main.ts') },
  outdir: out,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minify: true,
  keepNames: true,
  sourcemap: 'linked',
  // lmdb brings a native addon; it stays a package.
  external: ['lmdb'],
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as coracleCreateRequire } from 'node:module'; const require = coracleCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
})
chmodSync(join(out, 'coracle.js'), 0o755)
console.error(`dist/coracle.js bundled in ${Math.round(performance.now() - started)} ms`)
