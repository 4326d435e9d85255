import { describe, expect, it } from 'vitest'
import { bodyDepthMax, checkDepth, checkJsonText, nestsTooDeep } from './limits.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
/** Large enough to be scanned before it is parsed. */
const padded = (json: string): Buffer => Buffer.from(`${' '.repeat(64 * 1024)}${json}`)

describe('a large JSON text', () => {
  it('may nest up to the limit', () => {
    expect(() => checkJsonText(padded(nested(bodyDepthMax)))).not.toThrow()
    expect(() => checkJsonText(padded(nested(bodyDepthMax + 1)))).toThrow('exceeded max depth')
  })

  it('may have any number of brackets in strings', () => {
    expect(() => checkJsonText(padded(`"\\"${'['.repeat(1_000)}"`))).not.toThrow()
  })
})

describe('a parsed body', () => {
  const json = nested(bodyDepthMax + 1)

  it('may nest up to the limit, too', () => {
    expect(nestsTooDeep(JSON.parse(json), json.length)).toBe(true)
    expect(nestsTooDeep(JSON.parse(nested(bodyDepthMax)), json.length)).toBe(false)
  })

  it('of YAML may be short and nest without end', () => {
    const endless: unknown[] = []
    endless.push(endless)
    expect(() => checkDepth(endless, 'yaml', 20)).toThrow('exceeded max depth')
  })
})
