import { describe, expect, it } from 'vitest'
import { deleteOptionsOf, listOptionsOf, parseQuery, watchOptionsOf, writeOptionsOf } from './query.ts'

const list = (search: string) => listOptionsOf(parseQuery(search), 'a')
const watch = (search: string) => watchOptionsOf(parseQuery(search), '')

describe('options of reads', () => {
  it('reads what a list can say', () => {
    expect(list('labelSelector=a%3Db&limit=5&continue=x&resourceVersion=7&fieldSelector=')).toEqual({
      namespace: 'a',
      labelSelector: 'a=b',
      limit: 5,
      continue: 'x',
      resourceVersion: '7',
    })
  })

  it('reads what a watch can say', () => {
    const search =
      'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=9'
    expect(watch(search)).toEqual({ allowWatchBookmarks: true, sendInitialEvents: true, timeoutSeconds: 9 })
  })

  it('takes a negative time for one that is over, and none for the server to say', () => {
    expect(watch('timeoutSeconds=-1')).toEqual({ timeoutSeconds: 0 })
    expect(watch('timeoutSeconds=0')).toEqual({})
  })

  it('passes over the place to continue at in a watch from a version, which gets no initial events of itself', () => {
    expect(watch('resourceVersion=5&continue=x')).toEqual({ resourceVersion: '5' })
  })

  it('take whole numbers as far as an int64 goes', () => {
    expect(list('limit=9223372036854775807')).toMatchObject({ limit: Number.MAX_SAFE_INTEGER })
    expect(list('limit=-9223372036854775808')).not.toHaveProperty('limit')
    expect(watch('timeoutSeconds=9223372036854775807')).toEqual({ timeoutSeconds: Number.MAX_SAFE_INTEGER })
    expect(list(`limit=${'0'.repeat(30)}5`)).toMatchObject({ limit: 5 })
  })

  it.each([
    [list, 'limit=', 400, 'strconv.ParseInt: parsing "": invalid syntax'],
    [list, 'limit=9223372036854775808', 400, 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    [list, `limit=${'9'.repeat(500_000)}`, 400, 'value out of range'],
    [list, 'limit=many', 400, 'strconv.ParseInt: parsing "many": invalid syntax'],
    [
      list,
      'resourceVersionMatch=Exact',
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [list, 'resourceVersionMatch=Exact&resourceVersion=0', 422, 'is forbidden for resourceVersion "0"'],
    [list, 'resourceVersionMatch=Best&resourceVersion=1', 422, 'Unsupported value: "Best"'],
    [list, 'resourceVersionMatch=Exact&resourceVersion=1&continue=x', 422, 'forbidden when continue is provided'],
    [list, 'sendInitialEvents=true', 422, 'sendInitialEvents is forbidden for list'],
    [watch, 'sendInitialEvents=true', 422, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'],
    [
      watch,
      'resourceVersionMatch=NotOlderThan',
      422,
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ],
    [watch, 'continue=x', 422, 'resourceVersionMatch is forbidden when continue is provided'],
    [watch, 'resourceVersion=0&continue=x', 422, 'resourceVersionMatch is forbidden when continue is provided'],
    [watch, 'limit=x&resourceVersionMatch=Best', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [list, 'limit=x&resourceVersionMatch=Best', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [list, 'watch=1&continue=x', 422, 'resourceVersionMatch is forbidden when continue is provided'],
    [
      list,
      'watch=1&resourceVersion=3&resourceVersionMatch=Exact',
      422,
      'Unsupported value: "Exact": supported values: "NotOlderThan"',
    ],
  ])('refuses %o with %s', (read, search, code, message) => {
    expect(() => read(search)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
  })
})

describe('options of writes', () => {
  it('take a field manager that can be printed', () => {
    expect(writeOptionsOf(parseQuery('fieldManager=%C3%A9+x'), 'PatchOptions').fieldManager).toBe('é x')
    expect(() => writeOptionsOf(parseQuery('fieldManager=%C3%A9%07'), 'PatchOptions')).toThrow(
      'invalid character U+0007 (at position 2)',
    )
  })

  it('defaults to telling about unknown fields', () => {
    expect(writeOptionsOf(parseQuery(''), 'CreateOptions').fieldValidation).toBe('Warn')
    expect(writeOptionsOf(parseQuery('fieldManager=kubectl'), 'CreateOptions').fieldValidation).toBe('Warn')
  })

  it.each([
    ['dryRun=Some', 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
    ['fieldValidation=Hard', 'fieldValidation: Unsupported value: "Hard"'],
    ['force=true', 'force: Forbidden: may not be specified for non-apply patch'],
    [`fieldManager=${'x'.repeat(129)}`, 'fieldManager: Too long'],
  ])('refuses %s', (search, message) => {
    expect(() => writeOptionsOf(parseQuery(search), 'PatchOptions')).toThrow(
      expect.objectContaining({ code: 422, message: expect.stringContaining(message) }),
    )
  })
})

describe('options of deletes', () => {
  it('counts the body alone where there is one', () => {
    const query = parseQuery('gracePeriodSeconds=5')
    expect(deleteOptionsOf(query, undefined)).toEqual({ gracePeriodSeconds: 5 })
    expect(deleteOptionsOf(query, { propagationPolicy: 'Orphan' })).toEqual({ propagationPolicy: 'Orphan' })
  })

  it('reads a uid that the object must have from the query, and a policy that is none', () => {
    expect(deleteOptionsOf(parseQuery('uid=x'), undefined)).toEqual({ preconditions: { uid: 'x' } })
    expect(() => deleteOptionsOf(parseQuery('propagationPolicy='), undefined)).toThrow(
      'propagationPolicy: Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"',
    )
  })

  it('understands the older way to say what becomes of dependents', () => {
    const none = parseQuery('')
    expect(deleteOptionsOf(none, { orphanDependents: true })).toEqual({ propagationPolicy: 'Orphan' })
    expect(deleteOptionsOf(none, { orphanDependents: false })).toEqual({ propagationPolicy: 'Background' })
  })

  it.each([
    [{ propagationPolicy: 'Later' }, 'propagationPolicy: Unsupported value: "Later"'],
    [{ propagationPolicy: 'Orphan', orphanDependents: true }, 'cannot be both set'],
    [{ dryRun: ['Some'] }, 'dryRun: Unsupported value'],
  ])('refuses %o', (body, message) => {
    expect(() => deleteOptionsOf(parseQuery(''), body)).toThrow(
      expect.objectContaining({ code: 422, message: expect.stringContaining(message) }),
    )
  })
})
