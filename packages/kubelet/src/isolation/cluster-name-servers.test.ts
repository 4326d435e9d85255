import { type Service, services } from '@coracle/api'
import { createInformer } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { ClusterNameServers, dnsServiceWaitMs } from './cluster-name-servers.ts'

const dnsService = (clusterIPs: readonly string[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'kube-system', name: 'kube-dns', uid: 'uid-dns' },
  spec: { clusterIP: clusterIPs[0] ?? '', clusterIPs },
})

async function agent(first?: Service) {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  if (first !== undefined) await client.create(services, first)
  const informer = createInformer(client, services, {}, environment)
  informer.start()
  await environment.clock.settle()
  const nameServers = new ClusterNameServers(informer, environment.clock)
  nameServers.start()
  /** What is said, once something is. */
  const ask = () => {
    let said: readonly string[] | undefined
    void nameServers.addresses().then((addresses) => {
      said = addresses
    })
    return async () => {
      await environment.clock.settle()
      return said
    }
  }
  return { clock: environment.clock, client, ask }
}

describe('who knows names of a cluster', () => {
  it('is behind its Service', async () => {
    const { ask } = await agent(dnsService(['10.96.0.10', 'fd00::a']))
    expect(await ask()()).toEqual(['10.96.0.10', 'fd00::a'])
  })

  it('is waited for by pods that start before the Service is there', async () => {
    const { client, clock, ask } = await agent()
    const said = ask()
    await clock.advance('5s')
    expect(await said()).toBeUndefined()
    await client.create(services, dnsService(['10.96.0.10']))
    expect(await said()).toEqual(['10.96.0.10'])
  })

  it('is nobody where there is none for long, and found when it comes', async () => {
    const { client, clock, ask } = await agent()
    const said = ask()
    await clock.advance(`${dnsServiceWaitMs}ms`)
    expect(await said()).toEqual([])
    expect(await ask()()).toEqual([])
    await client.create(services, dnsService(['10.96.0.10']))
    await clock.settle()
    expect(await ask()()).toEqual(['10.96.0.10'])
  })

  it.each([['127.3.0.10'], ['::1'], ['None'], ['']])(
    'is nobody at an address that pods do not reach: %j',
    async (address) => {
      expect(await (await agent(dnsService([address]))).ask()()).toEqual([])
    },
  )
})
