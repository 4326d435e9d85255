/** A program under `--trace-opt`: functions that get warm in a burst, and go on being called when the load lasts. */
import { setFlagsFromString } from 'node:v8'
import { delayLastCompiler } from '../last-compiler.ts'
import { VirtualClock } from '../virtual-clock.ts'

const clock = new VirtualClock()
let cpuMs = 0
const stop = delayLastCompiler(clock, { cpuMs: () => cpuMs, setFlag: setFlagsFromString })

const calls = 20_000
const lengthOf = (value: number): number => String(value).length
let total = 0

/** Compilers run beside the program: it waits for what they have made, and their messages. */
async function call(): Promise<void> {
  for (let index = 0; index < calls; index += 1) {
    total += lengthOf(index)
    if (index % 1000 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

await call()
process.stdout.write('the load lasts\n')
for (let look = 0; look < 4; look += 1) {
  cpuMs += 500
  await clock.advance('500ms')
}
// Code that became fast late, on a busy machine, asks late for the last compiler.
for (let round = 0; round < 20; round += 1) await call()
stop()
process.stdout.write(`${total}\n`)
