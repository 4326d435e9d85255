import { describe, expect, it } from 'vitest'
import { logChange } from './log-changes.ts'

const action = { controller: 'replicaset', kind: 'Pod', namespace: 'default', name: 'web-1', because: '1 of 2 exist' }

describe('logChange', () => {
  it('tells of an action of a controller, and why', () => {
    expect(logChange({ level: 'info', message: 'create', fields: action })).toEqual({
      about: 'pod/web-1',
      what: 'created by replicaset: 1 of 2 exist',
      tone: 'plain',
    })
  })

  it('names other namespaces than the default', () => {
    const fields = { ...action, namespace: 'team' }
    expect(logChange({ level: 'info', message: 'delete', fields })?.about).toBe('pod/team/web-1')
  })

  it('tells of an action that failed', () => {
    const fields = { ...action, error: 'quota exceeded' }
    expect(logChange({ level: 'warn', message: 'create failed', fields })).toMatchObject({
      what: 'create failed by replicaset: quota exceeded (1 of 2 exist)',
      tone: 'bad',
    })
  })

  it('tells of warnings of components with what they say', () => {
    const fields = { controller: 'job', key: 'default/x', error: 'boom' }
    expect(logChange({ level: 'error', message: 'reconcile failed', fields })).toEqual({
      about: 'job',
      what: 'reconcile failed: key default/x: boom',
      tone: 'bad',
    })
  })

  it.each([
    ['statuses', { level: 'info', message: 'status', fields: action }],
    [
      'conflicts, which are tried again',
      {
        level: 'warn',
        message: 'status failed',
        fields: { ...action, error: 'Operation cannot be fulfilled on pods "web-1": …' },
      },
    ],
    ['service accounts', { level: 'info', message: 'create', fields: { ...action, kind: 'ServiceAccount' } }],
    ['what is behind a Service', { level: 'info', message: 'update', fields: { ...action, kind: 'EndpointSlice' } }],
    ['the same in its older form', { level: 'info', message: 'create', fields: { ...action, kind: 'Endpoints' } }],
    ['news among components', { level: 'info', message: 'watch has expired', fields: {} }],
  ] as const)('keeps quiet about %s', (_, line) => {
    expect(logChange(line)).toBeUndefined()
  })
})
