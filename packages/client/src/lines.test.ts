import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linesOf } from './lines.ts'

async function read(chunks: readonly Uint8Array[], maxBytes?: number): Promise<string[]> {
  async function* stream() {
    yield* chunks
  }
  const lines: string[] = []
  for await (const line of linesOf(stream(), maxBytes)) lines.push(line)
  return lines
}

describe('lines of a response', () => {
  it('come out whole however the bytes are cut, characters of several bytes included', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\n'))
    const property = fc.asyncProperty(fc.array(line), fc.array(fc.nat(200)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      const points = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length]
      const chunks = points.slice(1).map((point, index) => bytes.subarray(points[index] ?? 0, point))
      expect(await read(chunks)).toEqual(lines)
    })
    await fc.assert(property)
  })

  it('leaves out half a line at the end', async () => {
    expect(await read([Buffer.from('whole\nhal')])).toEqual(['whole'])
  })

  it('refuses a line that is too long', async () => {
    await expect(read([Buffer.from('12345'), Buffer.from('67890')], 8)).rejects.toThrow('longer than 8 bytes')
  })
})
