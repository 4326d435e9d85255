import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api, patch, post, remove } from './support/api.ts'
import { configMap } from './support/kubectl.ts'
import { paths } from './support/objects.ts'
import { Program } from './support/program.ts'

const { configMaps } = paths

describe('a client that was only a moment behind when the program was killed', () => {
  let dataDir: string
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'coracle-resume-'))
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  const start = async () => {
    const program = await Program.start({ dataDir, args: ['--runtime', 'simulated', '--nodes', '0'] })
    return { program, api: await Api.of(program) }
  }

  it('watches on from what it saw last, and misses nothing', async () => {
    const first = await start()
    const labelled = (name: string, track: string) => configMap(name, {}, { labels: { track } })
    await first.api.object(configMaps, post(labelled('kept', 'stable')))
    await first.api.object(configMaps, post(labelled('moved', 'stable')))
    await first.api.object(configMaps, post(labelled('deleted', 'stable')))
    const watch = await first.api.lines(`${configMaps}?watch=1&labelSelector=track%3Dstable`)
    let seen = 0
    for (let count = 0; count < 3; count++) {
      seen = Math.max(seen, Number((await watch.next()).object.metadata.resourceVersion))
    }
    watch.close()
    await first.api.object(`${configMaps}/moved`, patch('merge', { metadata: { labels: { track: 'canary' } } }))
    await first.api.object(`${configMaps}/deleted`, remove())
    await first.api.object(configMaps, post(labelled('made', 'stable')))
    await first.program.end('SIGKILL')
    first.api.close()

    const second = await start()
    const again = await second.api.lines(`${configMaps}?watch=1&labelSelector=track%3Dstable&resourceVersion=${seen}`)
    await second.api.object(`${configMaps}/kept`, patch('merge', { data: { x: '1' } }))
    const events: string[] = []
    for (let count = 0; count < 4; count++) {
      const { type, object } = await again.next()
      events.push(`${type} ${object.metadata?.name ?? object.reason}`)
    }
    expect(events).toEqual(['DELETED moved', 'DELETED deleted', 'ADDED made', 'MODIFIED kept'])
    again.close()
    second.api.close()
    await second.program.end('SIGINT')
  })
})
