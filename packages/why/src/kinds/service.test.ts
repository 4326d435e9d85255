import { type Event, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { findingsOf } from '../explanation.ts'
import { examined, object } from '../testing/examined.ts'

const service = object('v1', 'Service', {
  spec: { type: 'NodePort', clusterIP: '127.5.0.1', ports: [{ port: 80, nodePort: 30080 }] },
})
const told = (reason: string, message: string, minute: number): Event =>
  ({ reason, message, lastTimestamp: `2026-01-01T00:0${minute}:00Z`, metadata: {} }) as Event
const cannot = (port: number, minute = 1) =>
  told('FailedToListen', `Cannot listen on TCP 127.5.0.1:${port}: another program of this host listens there`, minute)

describe('a service that no pod is behind', () => {
  const found = (namespace: string) => {
    const selecting = object('v1', 'Service', {
      metadata: { namespace, name: 'kube-dns' },
      spec: { clusterIP: '10.96.0.10', selector: { 'k8s-app': 'kube-dns' }, ports: [{ port: 53 }] },
    })
    return findingsOf(examined(selecting, { known: new Map([[pods, []]]) })).map(({ reason }) => reason)
  }

  it('is told of', () => {
    expect(found('default')).toEqual(['SelectorMatchesNothing'])
  })

  it('is not where names are looked up: the program answers there', () => {
    expect(found('kube-system')).toEqual([])
  })
})

describe('a service whose address cannot be listened on', () => {
  const found = (events: readonly Event[]) =>
    findingsOf(examined(service, { events })).map(({ reason, because }) => [reason, because])

  it.each<[string, readonly Event[], readonly string[]]>([
    ['is told of as its proxy has', [cannot(80)], ['FailedToListen']],
    ['is told of by its port on the nodes, too', [cannot(30080)], ['FailedToListen']],
    ['is not, where the proxy listens since', [cannot(80), told('Listening', 'Listening on TCP 127.5.0.1:80', 2)], []],
    [
      'is, where it cannot again',
      [told('Listening', 'Listening on TCP 127.5.0.1:80', 1), cannot(80, 2)],
      ['FailedToListen'],
    ],
    ['is not, where the port is not one of it any more', [cannot(81)], []],
    ['is not, where nothing was said', [], []],
  ])('%s', (_, events, expected) => {
    expect(found(events).map(([reason]) => reason)).toEqual(expected)
  })

  it('has the reason of the proxy', () => {
    expect(found([cannot(80)])).toEqual([
      ['FailedToListen', 'Cannot listen on TCP 127.5.0.1:80: another program of this host listens there'],
    ])
  })
})

describe('a service of type LoadBalancer without an address', () => {
  const pending = (conditions: readonly object[]) =>
    object('v1', 'Service', {
      spec: { type: 'LoadBalancer', clusterIP: '127.5.0.1', ports: [{ port: 80 }] },
      status: { loadBalancer: {}, conditions },
    })
  const found = (conditions: readonly object[]) =>
    findingsOf(examined(pending(conditions), { events: [] })).map(({ reason, because }) => [reason, because])

  it('waits for a controller', () => {
    expect(found([])).toEqual([
      ['LoadBalancerPending', 'it is of type LoadBalancer, and no controller has given it one'],
    ])
  })

  it('has none for the reason that the controller says', () => {
    const message = 'port 80/TCP is taken by service default/web'
    const condition = { type: 'coracle.dev/NodeAddresses', status: 'False', reason: 'PortTaken', message }
    expect(found([condition])).toEqual([['LoadBalancerPending', message]])
  })
})
