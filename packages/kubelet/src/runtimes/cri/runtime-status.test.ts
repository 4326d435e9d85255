import { expect, it } from 'vitest'
import { RuntimeUnavailableError } from '../runtime.ts'
import { isRuntimeReady, statusFromConditions, statusFromError } from './runtime-status.ts'

const condition = (type: string, status: boolean) => ({ type, status, reason: 'Why', message: 'what to know' })

it('says in upstream’s words which conditions of a runtime are not met', () => {
  expect(statusFromConditions([condition('RuntimeReady', true), condition('NetworkReady', true)])).toEqual({
    problems: [],
  })
  const network = 'container runtime network not ready: NetworkReady=false reason:Why message:what to know'
  expect(statusFromConditions([condition('RuntimeReady', false), condition('NetworkReady', false)])).toEqual({
    problems: ['container runtime not ready: RuntimeReady=false reason:Why message:what to know', network],
    networkProblem: network,
  })
})

it('takes a runtime for ready unless it says otherwise, whatever its network is like', () => {
  expect(isRuntimeReady([condition('NetworkReady', false)])).toBe(true)
  expect(isRuntimeReady([condition('RuntimeReady', false)])).toBe(false)
})

it('tells a runtime that is down from one whose status cannot be told', () => {
  expect(statusFromError(new RuntimeUnavailableError('gone'))).toEqual({ problems: ['container runtime is down'] })
  expect(statusFromError(new Error('odd'))).toEqual({
    problems: ['container runtime status check may not have completed yet: odd'],
  })
})
