import * as esbuild from 'esbuild'

/**
 * esbuild's `build`, whose process lets more garbage come together before it looks for it: a fifth less CPU time for a bundle of the program, and
 * 1 GB in place of 700 MB. The process is started by the first build, and goes on until `esbuild.stop()`.
 */
export const build: typeof esbuild.build = (options) => {
  const { GOGC } = process.env
  process.env.GOGC = GOGC ?? '400'
  try {
    return esbuild.build(options)
  } finally {
    if (GOGC === undefined) delete process.env.GOGC
  }
}
