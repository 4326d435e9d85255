import type { Service } from '@coracle/api'
import type { Frontend } from '@coracle/proxy'
import { describe, expect, it } from 'vitest'
import { adaptFrontends } from './adapt-frontends.ts'

const service = (namespace: string, name: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: {},
})
const frontend = (port: number, ...addresses: readonly string[]): Frontend => ({
  protocol: 'TCP',
  address: '10.96.0.10',
  port,
  backends: addresses.map((address) => ({ address, port: 8080 })),
  affinityMs: undefined,
  isElsewhere: false,
})
const api = service('default', 'kubernetes')
const names = service('kube-system', 'kube-dns')
const answerNames = async () => ({ close() {} })

describe('the service of the API', () => {
  it.each([
    ['is left alone where processes know the way themselves', false, []],
    ['leads to the servers behind it', true, [frontend(443, '10.0.0.1')]],
    [
      'leads to the server that its machine knows where it is no server itself',
      () => ({ address: 'server.example', port: 6443 }),
      [{ ...frontend(443), backends: [{ address: 'server.example', port: 6443 }] }],
    ],
  ])('%s', (_, leadsToApi, expected) => {
    expect(adaptFrontends({ leadsToApi })(api, [frontend(443, '10.0.0.1')])).toEqual(expected)
  })
})

describe('the service for names', () => {
  const adapted = (of: Service, ...frontends: readonly Frontend[]) =>
    adaptFrontends({ leadsToApi: true, answerNames })(of, frontends).map(({ answer }) => answer === answerNames)

  it('is answered here while nobody is behind it', () => {
    expect(adapted(names, frontend(53))).toEqual([true])
    expect(adapted(names, frontend(53, '10.1.0.5'))).toEqual([false])
  })

  it('is answered at the port of names alone', () => {
    expect(adapted(names, frontend(9153), frontend(53))).toEqual([false, true])
  })

  it('is as others are where nobody answers here', () => {
    expect(adaptFrontends({ leadsToApi: true })(names, [frontend(53)])).toEqual([frontend(53)])
  })

  it('is that one', () => {
    expect(adapted(service('default', 'kube-dns'), frontend(53))).toEqual([false])
    expect(adapted(service('kube-system', 'dns'), frontend(53))).toEqual([false])
  })
})
