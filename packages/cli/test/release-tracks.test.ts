import { readFileSync } from 'node:fs'
import {
  builtinResources,
  deployments,
  type Endpoint,
  endpointSlices,
  type KubernetesObject,
  pods,
  services,
} from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

const namespace = 'default'
const manifest = readFileSync(new URL('../../../examples/release-tracks.yaml', import.meta.url), 'utf8')

describe('release tracks: a stable version and a canary behind one service', () => {
  let environment: VirtualEnvironment
  let cluster: Cluster

  beforeEach(async () => {
    environment = virtualEnvironment({ seed: 42 })
    cluster = await startCluster({ environment, nodes: 3 })
    for (const document of parseAllDocuments(manifest)) {
      const object = document.toJS() as KubernetesObject
      const resource = builtinResources.find(({ kind }) => kind === object.kind)
      if (resource === undefined) throw new Error(`no resource for ${object.kind}`)
      await cluster.client.create(resource, { ...object, metadata: { ...object.metadata, namespace } })
    }
    await settled()
  })

  afterEach(() => cluster.stop())

  const settled = async () => {
    await environment.clock.settle()
    await environment.clock.advance('60s')
  }
  const served = async (): Promise<readonly Endpoint[]> => {
    const { items } = await cluster.client.list(endpointSlices, { namespace })
    return items.flatMap(({ endpoints = [] }) => endpoints).filter(({ conditions }) => conditions?.ready === true)
  }
  const tracks = async () => {
    const names = (await served()).map(({ targetRef }) => targetRef?.name?.split('-')[1] ?? '')
    return {
      stable: names.filter((track) => track === 'stable').length,
      canary: names.filter((track) => track === 'canary').length,
    }
  }
  const scale = async (name: string, replicas: number) => {
    await cluster.client.patch(deployments, { namespace, name }, { type: 'merge', body: { spec: { replicas } } })
    await settled()
  }

  it('get about nine requests to one', async () => {
    expect(await tracks()).toEqual({ stable: 9, canary: 1 })
  })

  it('shift as they are scaled', async () => {
    await scale('frontend-canary', 5)
    await scale('frontend-stable', 5)
    expect(await tracks()).toEqual({ stable: 5, canary: 5 })
  })

  it('lose a pod that is taken aside, which its deployment replaces', async () => {
    const [first] = (await cluster.client.list(pods, { namespace, labelSelector: 'track=stable' })).items
    const name = first?.metadata.name ?? ''
    await cluster.client.patch(
      pods,
      { namespace, name },
      { type: 'merge', body: { metadata: { labels: { track: 'debug', tier: 'debug' } } } },
    )
    await settled()
    expect((await served()).map(({ targetRef }) => targetRef?.name)).not.toContain(name)
    expect(await tracks()).toEqual({ stable: 9, canary: 1 })
  })

  it('are gone from the service with it', async () => {
    await cluster.client.delete(services, { namespace, name: 'frontend' })
    await settled()
    expect(await served()).toEqual([])
  })
})
