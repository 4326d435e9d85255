import { describe, expect, it } from 'vitest'
import type { ContainerStatus, Pod } from '../kinds/index.ts'
import { listing, nodeLog } from './node-logs.ts'

const ran = (name: string, more: Partial<ContainerStatus>): ContainerStatus =>
  ({ name, ready: false, restartCount: 0, image: '', imageID: '', state: { waiting: {} }, ...more }) as ContainerStatus

const ended = { terminated: { exitCode: 1 } }
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web', uid: 'u1' },
  spec: { containers: [] },
  status: {
    initContainerStatuses: [ran('init', { state: ended })],
    containerStatuses: [
      ran('new', {}),
      ran('main', { restartCount: 3, state: { running: {} }, lastState: ended }),
      ran('broken', { restartCount: 2, lastState: ended }),
    ],
  },
}

const at = (path: string) => nodeLog(path.split('/').filter(Boolean), [pod])

describe('the logs of a node', () => {
  it.each([
    ['', ['pods/']],
    ['pods', ['shop_web_u1/']],
    ['pods/shop_web_u1', ['broken/', 'init/', 'main/']],
    ['pods/shop_web_u1/main', ['2.log', '3.log']],
    ['pods/shop_web_u1/broken', ['1.log']],
    ['pods/shop_web_u1/init', ['0.log']],
  ])('have directories: %s', (path, entries) => {
    expect(at(path)).toEqual({ kind: 'directory', entries })
  })

  it.each([
    ['main/3.log', false],
    ['main/2.log', true],
    ['broken/1.log', true],
  ])('have one for each run: %s', (path, previous) => {
    const [container] = path.split('/')
    expect(at(`pods/shop_web_u1/${path}`)).toEqual({ kind: 'log', pod, container, previous })
  })

  it.each([
    'syslog',
    'pods/other',
    'pods/shop_web_u1/new',
    'pods/shop_web_u1/main/1.log',
    'pods/shop_web_u1/main/3.log/x',
  ])('have nothing at %s', (path) => {
    expect(at(path)).toBeUndefined()
  })

  it('are linked from where their list was found', () => {
    expect(listing('/logs/', ['pods/'])).toBe('<pre>\n<a href="pods/">pods/</a>\n</pre>\n')
    expect(listing('/logs', ['pods/'])).toBe('<pre>\n<a href="logs/pods/">pods/</a>\n</pre>\n')
  })
})
