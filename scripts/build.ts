/** Bundles the program into `dist/coracle.js`: one file, so that starting it reads one file. */
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { analyzeMetafile, build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const out = join(root, 'dist')

rmSync(out, { recursive: true, force: true })
const started = performance.now()
const { metafile } = await build({
  stdin: {
    // What is imported after it is compiled once and kept by Node, which halves the time to load it.
    contents: `
      import { enableCompileCache } from 'node:module'
      enableCompileCache()
      const { runMain } = await import('./packages/cli/src/main.ts')
      await runMain()
    `,
    resolveDir: root,
    sourcefile: 'coracle.ts',
    loader: 'ts',
  },
  entryNames: 'coracle',
  outdir: out,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Names stay as they are: stack traces can be read, and functions need not be given theirs back at run time.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  // lmdb brings a native addon; it stays a package.
  external: ['lmdb'],
  metafile: process.argv.includes('--analyze'),
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as coracleCreateRequire } from 'node:module'; const require = coracleCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
})
if (metafile) console.error(await analyzeMetafile(metafile))
chmodSync(join(out, 'coracle.js'), 0o755)
console.error(`dist/coracle.js bundled in ${Math.round(performance.now() - started)} ms`)
