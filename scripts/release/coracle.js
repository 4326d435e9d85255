#!/usr/bin/env node
// Plain JavaScript, so that an old Node.js gets as far as saying what is wrong.
const nodeMajorMin = 24

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  console.error(
    `error: coracle needs Node.js ${nodeMajorMin} or newer, and this is ${process.versions.node}; ` +
      `install it, or run: npx --package=node@${nodeMajorMin} --package=@coracle/cli coracle`,
  )
  process.exitCode = 1
} else await import('../dist/coracle.js')
