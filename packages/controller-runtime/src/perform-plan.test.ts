import { ApiError, events } from '@coracle/api'
import type { ApplyConfiguration } from '@coracle/client'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { controller } from './controller.ts'
import { createManager } from './manager.ts'
import { performPlan } from './perform-plan.ts'
import type { Action, ActionRecord, CreateAction, Plan } from './plan.ts'
import { type Gadget, gadget, gadgets, type Widget, widget, widgets } from './testing/resources.ts'

let environment: VirtualEnvironment
let client: FakeClient
let web: Widget

beforeEach(async () => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  web = await client.create(widgets, widget('web', 3))
})

/** Has a controller carry out a plan once, and gives what came of it. */
async function perform(
  plan: Plan<Widget['status']>,
): Promise<{ readonly error: unknown; readonly records: readonly ActionRecord[] }> {
  const records: ActionRecord[] = []
  let error: unknown
  let isDone = false
  const described = controller('test')
    .for(widgets)
    .owns(gadgets)
    .reconcile(async ({ object }, context) => {
      if (object === undefined || isDone) return
      isDone = true
      try {
        return await performPlan(context, object, plan)
      } catch (thrown) {
        error = thrown
      }
    })
  const manager = createManager({ client, environment, onAction: (record) => records.push(record) })
  manager.add(described)
  await manager.start()
  await environment.clock.settle()
  await manager.stop()
  return { error, records }
}

const create = (parts: Partial<CreateAction> = {}): CreateAction => ({
  type: 'create',
  resource: gadgets,
  object: gadget(web),
  because: 'too few gadgets',
  ...parts,
})

const calls = (verb: string, plural: string) =>
  client.calls.filter((call) => call.verb === verb && call.plural === plural)
const deny = (plural: string, error: () => Error) =>
  client.intercept((call) => {
    if (call.plural === plural && call.verb !== 'list' && call.verb !== 'watch') throw error()
  })

describe('performPlan', () => {
  it('writes annotations along with the status, and neither where they are there', async () => {
    const plan = { actions: [], status: { gadgets: 1 }, annotations: { revision: '2' } }
    await client.patch(
      widgets,
      { namespace: 'default', name: 'web' },
      {
        type: 'merge',
        body: { metadata: { annotations: { kept: 'yes' } } },
      },
    )
    await perform(plan)
    expect(client.stored(widgets)).toMatchObject([
      { metadata: { annotations: { kept: 'yes', revision: '2' } }, status: { gadgets: 1 } },
    ])
    await perform(plan)
    expect(calls('update', 'widgets')).toHaveLength(1)
    await perform({ ...plan, annotations: { revision: '3' } })
    expect(client.stored(widgets)).toMatchObject([{ metadata: { annotations: { kept: 'yes', revision: '3' } } }])
  })

  it('does what the plan says, in order, and records why', async () => {
    await client.create(gadgets, gadget(web, { name: 'old' }))
    const { error, records } = await perform({
      actions: [
        { type: 'delete', resource: gadgets, key: { namespace: 'default', name: 'old' }, because: 'wrong colour' },
        create({ object: gadget(web, { name: 'new' }) }),
        {
          type: 'patch',
          resource: gadgets,
          key: { namespace: 'default', name: 'new' },
          patch: { type: 'merge', body: { spec: { color: 'red' } } },
          because: 'colour asked for',
        },
      ],
    })
    expect(error).toBeUndefined()
    expect(client.stored(gadgets)).toMatchObject([{ metadata: { name: 'new' }, spec: { color: 'red' } }])
    expect(records.map(({ type, target, because }) => [type, target.name, because])).toEqual([
      ['delete', 'old', 'wrong colour'],
      ['create', 'new', 'too few gadgets'],
      ['patch', 'new', 'colour asked for'],
    ])
    expect(records[0]).toMatchObject({
      controller: 'test',
      object: { kind: 'Widget', name: 'web', uid: web.metadata.uid },
    })
  })

  it('applies as the controller, with force: takes over what others own, and removes what it does not apply any more', async () => {
    const paint = (spec: NonNullable<Gadget['spec']>): Action => {
      const metadata = { namespace: 'default', name: 'g' }
      const object: ApplyConfiguration<Gadget> = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata, spec }
      return { type: 'apply', resource: gadgets, object, because: 'colour asked for' }
    }
    const { records } = await perform({ actions: [paint({ color: 'red', size: 'S' })] })
    expect(records).toMatchObject([{ type: 'apply', target: { name: 'g' }, because: 'colour asked for' }])
    const key = { namespace: 'default', name: 'g' }
    await client.patch(gadgets, key, { type: 'merge', body: { spec: { color: 'blue', weight: '1' } } })
    expect(await perform({ actions: [paint({ color: 'green' })] })).toMatchObject({ error: undefined })
    const { spec, metadata } = await client.get(gadgets, key)
    expect(spec).toEqual({ color: 'green', weight: '1' })
    expect(metadata.managedFields).toMatchObject([
      { manager: 'test', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:color': {} } } },
      { manager: 'fake-client', operation: 'Update', fieldsV1: { 'f:spec': { 'f:weight': {} } } },
    ])
  })

  it('starts creations slowly, so that a refused template costs one request', async () => {
    deny('gadgets', () => new ApiError(403, 'Forbidden', 'quota'))
    const { error } = await perform({ actions: Array.from({ length: 100 }, () => create()) })
    expect(calls('create', 'gadgets')).toHaveLength(1)
    expect(error).toMatchObject({ reason: 'Forbidden' })
  })

  it('makes batches of creations larger while all succeed', async () => {
    const sizes: number[] = []
    let waiting: (() => void)[] = []
    client.intercept((call) => {
      if (call.plural !== 'gadgets' || call.verb !== 'create') return
      if (waiting.length === 0) {
        environment.clock.setTimer(10, () => {
          const batch = waiting
          waiting = []
          sizes.push(batch.length)
          for (const answer of batch) answer()
        })
      }
      return new Promise<void>((resolve) => waiting.push(resolve))
    })
    const performed = perform({ actions: Array.from({ length: 20 }, () => create()) })
    await environment.clock.advance('1s')
    await performed
    expect(sizes).toEqual([1, 4, 15])
  })

  it('leaves out what follows a failure, but writes the status, and tells of all errors', async () => {
    let failures = 0
    client.intercept((call) => {
      if (call.verb === 'delete') throw new ApiError(500, 'InternalError', `broken ${++failures}`)
    })
    const remove = (name: string) =>
      ({ type: 'delete', resource: gadgets, key: { namespace: 'default', name }, because: 'too many' }) as const
    const { error, records } = await perform({ actions: [remove('a'), remove('b'), create()], status: { gadgets: 9 } })
    expect(error).toMatchObject({ message: '2 of 4 actions failed, the first with: broken 1' })
    expect(calls('create', 'gadgets')).toEqual([])
    expect(client.stored(widgets)[0]?.status).toEqual({ gadgets: 9 })
    expect(records.map(({ type, error: message }) => [type, message])).toEqual([
      ['delete', 'broken 1'],
      ['delete', 'broken 2'],
      ['status', undefined],
    ])
  })

  it('goes on with chains of actions that nothing has failed in, and with nothing else', async () => {
    await client.create(gadgets, gadget(web, { name: 'b' }))
    const names = ['a', 'b', 'c']
    const paint = (name: string): Action => ({
      type: 'patch',
      resource: gadgets,
      key: { namespace: 'default', name },
      patch: { type: 'merge', body: { spec: { color: 'red' } } },
      because: 'colour asked for',
      chain: name,
    })
    const { error, records } = await perform({
      actions: [
        ...names.map((name) => ({ ...create({ object: gadget(web, { name }) }), chain: name })),
        ...names.map(paint),
        { type: 'delete', resource: gadgets, key: { namespace: 'default', name: 'a' }, because: 'all are there' },
      ],
    })
    expect(error).toMatchObject({ reason: 'AlreadyExists' })
    expect(records.map(({ type, target }) => `${type} ${target.name}`)).toEqual([
      'create a',
      'create b',
      'create c',
      'patch a',
      'patch c',
    ])
  })

  it('leaves out chains that had not begun when something failed', async () => {
    deny('gadgets', () => new ApiError(403, 'Forbidden', 'quota'))
    const names = ['a', 'b']
    await perform({
      actions: [
        ...names.map((name) => ({ ...create({ object: gadget(web, { name }) }), chain: name })),
        ...(names.map((name) => ({
          ...{ type: 'delete', resource: gadgets, key: { namespace: 'default', name } },
          ...{ because: 'it is there', chain: name },
        })) as readonly Action[]),
      ],
    })
    expect(
      client.calls.filter(({ plural, verb }) => plural === 'gadgets' && verb !== 'list' && verb !== 'watch'),
    ).toHaveLength(1)
  })

  it('writes no status that tells of what has failed', async () => {
    client.intercept((call) => {
      if (call.verb === 'create') throw new ApiError(500, 'InternalError', 'broken')
    })
    const plan = { status: { gadgets: 1 }, isStatusOfSuccess: true }
    expect((await perform({ ...plan, actions: [create()] })).error).toMatchObject({ message: 'broken' })
    expect(calls('update', 'widgets')).toEqual([])
    await perform({ ...plan, actions: [] })
    expect(client.stored(widgets)[0]?.status).toEqual({ gadgets: 1 })
  })

  it('waits for what the plan waits for, also where something failed', async () => {
    const atMs: number[] = []
    const failing = controller('failing')
      .for(widgets)
      .reconcile(async ({ object }, context) => {
        if (object === undefined) return
        atMs.push(environment.clock.now())
        return performPlan(context, object, { actions: [create()], requeueAfterMs: 7 })
      })
    deny('gadgets', () => new ApiError(403, 'Forbidden', 'no gadgets'))
    const manager = createManager({ client, environment })
    manager.add(failing)
    await manager.start()
    await environment.clock.advance('20ms')
    await manager.stop()
    const [first = 0, ...others] = atMs
    // What failed is tried again after 5, 10, 20 milliseconds…
    expect(others.map((each) => each - first)).toEqual([5, 12, 19])
  })

  it('takes a delete of what is gone for done, and spares another object of the name', async () => {
    await client.create(gadgets, gadget(web, { name: 'a' }))
    const remove = (name: string, uid: string) =>
      ({ type: 'delete', resource: gadgets, key: { namespace: 'default', name }, uid, because: 'too many' }) as const
    const { error } = await perform({ actions: [remove('gone', 'x'), remove('a', 'other')] })
    expect(error).toMatchObject({ reason: 'Conflict' })
    expect(client.stored(gadgets)).toHaveLength(1)
  })

  it('tells of no delete of what is gone', async () => {
    await client.create(gadgets, gadget(web, { name: 'a' }))
    const told = { succeeded: { reason: 'SuccessfulDelete', message: 'Deleted gadget: {name}' } }
    const remove = (name: string) =>
      ({
        type: 'delete',
        resource: gadgets,
        key: { namespace: 'default', name },
        because: 'too many',
        events: told,
      }) as const
    await perform({ actions: [remove('gone'), remove('a')] })
    expect(client.stored(events).map(({ message }) => message)).toEqual(['Deleted gadget: a'])
  })

  it('emits the events of writes, with names and errors filled in', async () => {
    const told = {
      succeeded: { reason: 'SuccessfulCreate', message: 'Created gadget: {name}' },
      failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
    }
    let created = 0
    client.intercept((call) => {
      if (call.plural === 'gadgets' && call.verb === 'create' && ++created > 1)
        throw new ApiError(403, 'Forbidden', 'over {name} quota')
    })
    await perform({ actions: [create({ events: told }), create({ events: told })] })
    const name = client.stored(gadgets)[0]?.metadata.name
    expect(client.stored(events).map(({ type, reason, message }) => [type, reason, message])).toEqual([
      ['Normal', 'SuccessfulCreate', `Created gadget: ${name}`],
      ['Warning', 'FailedCreate', 'Error creating: over {name} quota'],
    ])
    expect(client.stored(events)[0]).toMatchObject({
      source: { component: 'test-controller' },
      involvedObject: { name: 'web' },
    })
  })

  it('tells all that there is to say of a failure, unless it is for a reason that tells nothing', async () => {
    const failed = [
      { reason: 'FailedCreate', message: 'no gadget: {error}' },
      { reason: 'FailedStart', message: 'no start: {error}', unless: 'AlreadyExists' },
    ]
    let reason = 'AlreadyExists'
    deny('gadgets', () => new ApiError(409, reason, reason))
    await perform({ actions: [create({ events: { failed } })] })
    reason = 'Forbidden'
    await perform({ actions: [create({ events: { failed } })] })
    expect(client.stored(events).map(({ message }) => message)).toEqual([
      'no gadget: AlreadyExists',
      'no gadget: Forbidden',
      'no start: Forbidden',
    ])
  })

  it('deletes an object only as it was read, where that is asked for', async () => {
    await client.create(gadgets, gadget(web, { name: 'a' }))
    const key = { namespace: 'default', name: 'a' }
    const remove = (resourceVersion: string) =>
      ({ type: 'delete', resource: gadgets, key, resourceVersion, because: 'too many' }) as const
    expect((await perform({ actions: [remove('0')] })).error).toMatchObject({ reason: 'Conflict' })
    const { resourceVersion = '' } = (await client.get(gadgets, key)).metadata
    await perform({ actions: [remove(resourceVersion)] })
    expect(client.stored(gadgets)).toEqual([])
  })

  it('keeps quiet about what a terminating namespace refuses', async () => {
    deny('gadgets', () => new ApiError(403, 'Forbidden', 'going', { causes: [{ reason: 'NamespaceTerminating' }] }))
    await perform({ actions: [create({ events: { failed: { reason: 'FailedCreate', message: '{error}' } } })] })
    expect(client.stored(events)).toEqual([])
  })

  it('reports events the plan asks for', async () => {
    await perform({
      actions: [{ type: 'event', eventType: 'Warning', reason: 'Odd', message: 'that is odd', because: 'it is odd' }],
    })
    expect(client.stored(events)).toMatchObject([{ type: 'Warning', reason: 'Odd', message: 'that is odd' }])
  })
})

describe('status', () => {
  it('is written once, through its subresource, and only if it differs', async () => {
    await perform({ actions: [], status: { gadgets: 1 } })
    expect(calls('update', 'widgets')).toMatchObject([{ subresource: 'status' }])
    await perform({ actions: [], status: { gadgets: 1 } })
    expect(calls('update', 'widgets')).toHaveLength(1)
  })

  it('belongs to the version that the plan itself has made of the object', async () => {
    const finalizers = { type: 'merge', body: { metadata: { finalizers: ['example.com/x'] } } } as const
    const { error } = await perform({
      actions: [
        {
          type: 'patch',
          resource: widgets,
          key: { namespace: 'default', name: 'web' },
          patch: finalizers,
          because: 'clean up',
        },
      ],
      status: { gadgets: 1 },
    })
    expect(error).toBeUndefined()
    expect(client.stored(widgets)[0]).toMatchObject({
      metadata: { finalizers: ['example.com/x'] },
      status: { gadgets: 1 },
    })
  })

  it('gives the conflict to the caller when someone else has changed the object', async () => {
    client.intercept(async (call) => {
      if (call.subresource !== 'status') return
      await client.patch(
        widgets,
        { namespace: 'default', name: 'web' },
        { type: 'merge', body: { spec: { gadgets: 8 } } },
      )
    })
    const { error } = await perform({ actions: [], status: { gadgets: 1 } })
    expect(error).toMatchObject({ reason: 'Conflict' })
  })

  it('does not matter for an object that is gone', async () => {
    client.intercept(async (call) => {
      if (call.subresource === 'status') await client.delete(widgets, { namespace: 'default', name: 'web' })
    })
    const { error, records } = await perform({ actions: [], status: { gadgets: 1 } })
    expect([error, records]).toEqual([undefined, []])
  })
})
