#!/usr/bin/env node
// Plain JavaScript, so that an old Node.js gets as far as saying what is wrong.
const nodeMajorMin = 24

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  console.error(
    `error: coracle needs Node.js ${nodeMajorMin} or newer, and this is ${process.versions.node}; ` +
      'run it through npm (npx coracle, npm start), which brings its own',
  )
  process.exitCode = 1
} else {
  // Node keeps what it has compiled, type stripping included: the second start takes half the time of the first.
  const { constants, enableCompileCache } = await import('node:module')
  const { fileURLToPath } = await import('node:url')
  const { status } = enableCompileCache(
    fileURLToPath(new URL('../../../node_modules/.cache/coracle/compiled', import.meta.url)),
  )
  // Who may not write there has it in the temporary directory.
  if (status === constants.compileCacheStatus.FAILED) enableCompileCache()
  const { runMain } = await import('../src/main.ts')
  await runMain()
}
