import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployments, services } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'record-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
})
afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
}

const coracle = (line: string) =>
  runCommand(line.split(' '), { workingDirectory: directory, stdin: JSON.stringify(web) })

const causeOf = async () => {
  const { metadata } = await cluster.client.get(deployments, { namespace: 'default', name: 'web' })
  return metadata.annotations?.['kubernetes.io/change-cause']
}

const warning = 'Flag --record has been deprecated, --record will be removed in the future\n'

describe('--record', () => {
  it.each([
    ['create -f - --record', 'coracle create --filename=- --record=true'],
    ['apply -f - --record=true', 'coracle apply --filename=- --record=true'],
    ['set image deployment/web web=web:2 --record', 'coracle set image deployment/web web=web:2 --record=true'],
    ['label deployment web a=b --record', 'coracle label deployment web a=b --record=true'],
    ['annotate --record deployment web c=d', 'coracle annotate deployment web c=d --record=true'],
    [
      'patch deployment web --record -p {"spec":{"paused":true}}',
      'coracle patch deployment web --record=true --patch={"spec":{"paused":true}}',
    ],
    [
      'scale deploy web --replicas=3 --record --password=x',
      'coracle scale deploy web --replicas=3 --record=true --password=CLASSIFIED',
    ],
  ])('%s notes the command', async (line, cause) => {
    expect(await coracle(line)).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) })
    expect(await causeOf()).toBe(cause)
  })

  it.each([
    ['kubernetes.io/change-cause-', undefined],
    ['kubernetes.io/change-cause=by-hand', 'by-hand'],
  ])('leaves what is annotated by hand: %s', async (change, cause) => {
    expect(await coracle(`annotate deployment web --overwrite --record ${change}`)).toMatchObject({ code: 0 })
    expect(await causeOf()).toBe(cause)
  })

  it('notes what makes another object there', async () => {
    await coracle('expose deployment web --port=80 --record')
    const { metadata } = await cluster.client.get(services, { namespace: 'default', name: 'web' })
    expect(metadata.annotations).toEqual({
      'kubernetes.io/change-cause': 'coracle expose deployment web --port=80 --record=true',
    })
  })

  it('changes nothing where it is not asked for, or nothing is done', async () => {
    const before = await causeOf()
    await coracle('set image deployment/web web=web:3 --record=false')
    await coracle('scale deploy web --replicas=4 --record --dry-run=server')
    expect(await causeOf()).toBe(before)
  })
})
