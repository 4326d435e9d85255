import { humanDuration, parseTime } from '@coracle/api'
import { type Author, type Change, type Explanation, type Finding, shortName } from '@coracle/why'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { escapeControls } from '../output/escape-controls.ts'

/** What people read: what holds an object up, then the changes that led to how it is, newest first. */
export function whyText(explanation: Explanation, nowMs: number): string {
  const { changes } = explanation
  const record = changes === undefined ? 'The server keeps no record of causes.\n' : changesText(changes, nowMs)
  return `${verdictText(explanation)}\n${record}`
}

/** What holds an object up. */
export function verdictText({ object, verdict, findings }: Explanation): string {
  if (findings.length > 0)
    return escapeControls(findings.map((finding) => findingText(finding, shortName(object))).join('\n'))
  return `${shortName(object)}: ${verdict === 'gone' ? 'gone' : 'nothing holds it up'}\n`
}

const states = { stuck: '', waiting: ' (goes on by itself)', hint: ' (hint)' } as const

/** `asked` is what was asked about: others are named with it. */
function findingText({ object, what, because, remedy, state, alike }: Finding, asked: string): string {
  const name = shortName(object)
  const others = alike === undefined ? '' : `, and ${alike} like it`
  const about = name === asked ? name : `${asked} ← ${name}`
  const indented = because.trim().replaceAll('\n', '\n  ')
  const lines = [`${about}${others}: ${what}${states[state]}`, `  ${indented}`, `  → ${remedy}`]
  return `${lines.join('\n')}\n`
}

function changesText(changes: readonly Change[], nowMs: number): string {
  if (changes.length === 0) return 'The record has no changes of it, or none that is kept still.\n'
  return changeRows(changes, nowMs)
}

/** A table of changes, with or without its header. */
export function changeRows(changes: readonly Change[], nowMs: number, hasHeader = true): string {
  const rows = changes.map((change) =>
    [
      change.revision,
      humanDuration(nowMs - parseTime(change.time)),
      whatOf(change),
      whoOf(change.who),
      reasonOf(change),
    ].join('\t'),
  )
  const header = hasHeader ? ['REVISION\tAGE\tWHAT\tWHO\tWHY'] : []
  return alignTabs(escapeControls([...header, ...rows, ''].join('\n')), tableAlignment)
}

const done = { create: 'created', update: 'changed', delete: 'gone' } as const

function whatOf({ objects, request }: Change): string {
  const [first, ...others] = objects
  if (first === undefined) return ''
  const { operation, kind, resource, name } = first
  const asked = request.verb === 'delete' && operation === 'update' ? 'asked to go' : done[operation]
  const part = request.subresource === undefined ? '' : ` (${request.subresource})`
  return `${(kind ?? resource).toLowerCase()}/${name} ${asked}${part}${others.length === 0 ? '' : ` and ${others.length} more`}`
}

const whoOf = ({ name, user, claimed }: Author): string => (claimed === true ? `${name} (says ${user})` : name)

/** The reason, where there is one, with what it was for and what it followed from. */
function reasonOf({ who, because, reconciled, objects, from, end }: Change): string {
  if (reconciled === undefined)
    return because ?? (who.manager === undefined ? 'asked for' : `asked for, with ${who.manager}`)
  const isItsOwn = objects[0]?.kind === reconciled.kind && objects[0]?.name === reconciled.name
  const about = isItsOwn ? '' : `${shortName(reconciled)}: `
  const seen = from.length === 0 ? '' : ` [after ${from.join(', ')}]`
  return `${about}${because ?? 'it did not say'}${end === 'forgotten' ? ' [what it followed from is not kept]' : seen}`
}
