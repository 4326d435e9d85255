import type { Description } from './description.ts'

/** Conditions as kubectl describes those of what makes pods; nothing where there are none. */
export function describeConditions(
  text: Description,
  conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string | undefined }[] = [],
): void {
  if (conditions.length === 0) return
  text.heading(0, 'Conditions').line(1, 'Type\tStatus\tReason').line(1, '----\t------\t------')
  for (const { type, status, reason = '' } of conditions) text.line(1, `${type} \t${status}\t${reason}`)
}
