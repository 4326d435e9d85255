import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../program.ts'
import { recordingHost } from '../testing/recording-host.ts'
import { imagesOf } from './images-flag.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coracle-images-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const written = (text: string): string => {
  writeFileSync(join(directory, 'images.yaml'), text)
  return 'images.yaml'
}

describe('--images', () => {
  it('reads what images are', () => {
    const images = written('nginx: { command: [nginx, -g, daemon off;] }\n')
    expect([...(imagesOf({ images }, directory).images ?? [])]).toEqual([
      ['docker.io/library/nginx', { command: ['nginx', '-g', 'daemon off;'], args: [], env: [] }],
    ])
    expect(imagesOf({}, directory)).toEqual({})
  })

  it.each<readonly [string, string, RegExp]>([
    ['a field is wrong', 'nginx: { command: nginx }', /--images: images.yaml: "nginx": command: must be a list/],
    ['it is no YAML', 'nginx: [', /--images: images.yaml: .+ at line 1, column \d+$/],
    ['it is too large', `#${' '.repeat(4 * 1024 * 1024)}`, /--images: images.yaml: is larger than 4194304 bytes/],
  ])('says which file it is where %s', (_, text, message) => {
    const images = written(text)
    expect(() => imagesOf({ images }, directory)).toThrow(message)
  })

  it.each<readonly [string, readonly string[], RegExp]>([
    ['a file that is not there', ['--images', 'none.yaml'], /error: --images: none.yaml: ENOENT/],
    ['simulated containers', ['--images', 'images.yaml', '--runtime', 'simulated'], /error: --images says what/],
  ])('is refused with %s before anything starts', async (_, flags, message) => {
    written('nginx: { command: [nginx] }')
    const host = recordingHost({ workingDirectory: directory })
    expect(await run(['up', '--memory', '--port', '0', ...flags], host)).toBe(1)
    expect(host.written.stderr).toMatch(message)
  })
})
