import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'
import { loadManifests } from './load-manifests.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'manifests-'))
  await mkdir(join(directory, 'all/deeper'), { recursive: true })
  await writeFile(join(directory, 'all/b.yaml'), pod('b'))
  await writeFile(
    join(directory, 'all/a.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }),
  )
  await writeFile(join(directory, 'all/notes.txt'), 'no manifest')
  await writeFile(join(directory, 'all/deeper/c.yml'), pod('c'))
})

afterEach(() => rm(directory, { recursive: true }))

const pod = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`

async function load(filename: readonly string[], recursive = false, stdin = '') {
  const host = recordingHost({ workingDirectory: directory, stdin })
  const manifests = await loadManifests(host, { filename, recursive })
  return manifests.map(({ object, source }) => `${object.metadata.name} from ${source}`)
}

describe('loadManifests', () => {
  it('reads what a pattern matches, in order', async () => {
    expect(await load(['all/*.y*ml'])).toEqual(['b from all/b.yaml'])
    expect(await load(['all/[ab].*'])).toEqual(['a from all/a.json', 'b from all/b.yaml'])
    await expect(load(['all/*.none'])).rejects.toThrow('the path "all/*.none" does not exist')
  })

  it('reads the JSON and YAML files of a directory in order of their names', async () => {
    expect(await load(['all'])).toEqual(['a from all/a.json', 'b from all/b.yaml'])
  })

  it('goes deeper only where wanted', async () => {
    expect(await load(['all'], true)).toEqual(['a from all/a.json', 'b from all/b.yaml', 'c from all/deeper/c.yml'])
  })

  it('reads standard input and files in the order named', async () => {
    expect(await load(['-', 'all/b.yaml'], false, pod('z'))).toEqual(['z from STDIN', 'b from all/b.yaml'])
  })

  it('says which objects are in a version that is served no more', async () => {
    const stdin = 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: tick}\n'
    const host = recordingHost({ workingDirectory: directory, stdin })
    const [manifest] = await loadManifests(host, { filename: ['-'] })
    expect(manifest?.object.apiVersion).toBe('batch/v1')
    expect(host.written.stderr).toBe(
      'Warning: STDIN: CronJob tick is written in batch/v1beta1, which is served no more; it is read as batch/v1\n',
    )
  })

  it('says which path does not exist', async () => {
    await expect(load(['all/b.yaml', 'gone.yaml'])).rejects.toThrow('the path "gone.yaml" does not exist')
  })

  it('finds no objects in what is empty', async () => {
    expect(await loadManifests(recordingHost({ stdin: '' }), { filename: ['-'] })).toEqual([])
  })
})
