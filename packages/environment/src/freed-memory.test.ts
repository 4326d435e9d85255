import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const enoughMb = 30

/** Frees 75 MB between pieces that stay, and tells how much is resident before and after it is given back, in MB. */
const program = `
import { returnFreedMemory } from ${JSON.stringify(join(import.meta.dirname, 'freed-memory.ts'))}
const kept = []
for (let n = 0; n < 2500; n++) {
  const piece = Buffer.allocUnsafeSlow(30_000).fill(1)
  if (n % 50 === 0) kept.push(piece)
}
gc()
const before = process.memoryUsage.rss()
let freedMb = 0
// The bytes of what was collected are freed a little later, by a thread of V8's.
for (let look = 0; look < 500 && freedMb <= ${enoughMb}; look++) {
  await new Promise((resolve) => setTimeout(resolve, 10))
  returnFreedMemory()
  freedMb = (before - process.memoryUsage.rss()) / 1e6
}
console.log(JSON.stringify({ freedMb, isKept: kept.every((piece) => piece.every((byte) => byte === 1)) }))
`

const isGlibc = process.platform === 'linux' && 'glibcVersionRuntime' in headerOfReport()

function headerOfReport(): object {
  const report = process.report.getReport() as { readonly header?: object }
  return report.header ?? {}
}

it.runIf(isGlibc)('gives back what was freed between pieces that are still in use', () => {
  const args = ['--expose-gc', '--no-warnings', '--input-type=module', '-e', program]
  // A threshold that is set would have the C library give back the end of its heap, and take larger pieces elsewhere.
  const env = { ...process.env, MALLOC_TRIM_THRESHOLD_: undefined, MALLOC_ARENA_MAX: undefined }
  const told: { readonly freedMb: number; readonly isKept: boolean } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8', env }),
  )
  expect(told.isKept).toBe(true)
  expect(told.freedMb).toBeGreaterThan(enoughMb)
})
