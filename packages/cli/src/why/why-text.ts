import { type Cause, type CauseLink, humanDuration, parseTime } from '@coracle/api'
import { alignTabs, tableAlignment } from '../output/align.ts'
import type { Stuck } from './facts.ts'

/** What is told of an object: what holds it up, and the changes that led to how it is, newest first. */
export interface Why {
  /** `pod/web`. */
  readonly object: string
  /** There is no such object any more. */
  readonly isGone: boolean
  readonly stuck: readonly Stuck[]
  /** Undefined where the server keeps no record. */
  readonly causes: readonly CauseLink[] | undefined
}

/** What people read. */
export function whyText({ object, isGone, stuck, causes }: Why, nowMs: number): string {
  const parts = stuck.map(({ what, because, remedy }) => `${object}: ${what}\n  ${because}\n  → ${remedy}\n`)
  if (stuck.length === 0) parts.push(`${object}: ${isGone ? 'gone' : 'nothing holds it up'}\n`)
  parts.push(causes === undefined ? 'The server keeps no record of causes.\n' : causesText(causes, nowMs))
  return parts.join('\n')
}

function causesText(causes: readonly CauseLink[], nowMs: number): string {
  if (causes.length === 0) return 'The record has no changes of it, or none that is kept still.\n'
  const rows = causes.map((link) => {
    const { cause } = link
    const age = humanDuration(nowMs - parseTime(cause.metadata.creationTimestamp))
    return [cause.metadata.name, age, whatOf(cause), whoOf(cause), reasonOf(link)].join('\t')
  })
  return alignTabs(['REVISION\tAGE\tWHAT\tWHO\tWHY', ...rows, ''].join('\n'), tableAlignment)
}

const done = { create: 'created', update: 'changed', delete: 'gone' } as const

function whatOf({ changes, request }: Cause): string {
  const [first, ...others] = changes
  if (first === undefined) return ''
  const { operation, kind, resource, name } = first
  const asked = request.verb === 'delete' && operation === 'update' ? 'asked to go' : done[operation]
  const part = request.subresource === undefined ? '' : ` (${request.subresource})`
  return `${(kind ?? resource).toLowerCase()}/${name} ${asked}${part}${others.length === 0 ? '' : ` and ${others.length} more`}`
}

const whoOf = ({ reconcile, user, claimed }: Cause): string =>
  reconcile === undefined ? user : claimed === true ? `${reconcile.controller} (says ${user})` : reconcile.controller

/** The reason, where there is one, with what it was for and what it followed from. */
function reasonOf({ cause, from, end }: CauseLink): string {
  const { because, reconcile, request } = cause
  if (reconcile === undefined) {
    const tool = request.fieldManager ?? request.userAgent?.split('/')[0]
    return because ?? (tool === undefined ? 'asked for' : `asked for, with ${tool}`)
  }
  const { kind, name } = reconcile.object
  const isItsOwn = cause.changes[0]?.kind === kind && cause.changes[0]?.name === name
  const about = isItsOwn ? '' : `${kind.toLowerCase()}/${name}: `
  const seen = from.length === 0 ? '' : ` [after ${from.join(', ')}]`
  return `${about}${because ?? 'it did not say'}${end === 'forgotten' ? ' [what it followed from is not kept]' : seen}`
}
