import type { PodSpec } from '@coracle/api'
import type { Description } from './description.ts'

/** The group that a pod is scheduled with, where it has one. Below the heading all stands at the first level, as kubectl has it. */
export function describeSchedulingGroup(text: Description, level: number, group: PodSpec['schedulingGroup']): void {
  if (group === undefined) return
  text.heading(level, 'SchedulingGroup').field(1, 'PodGroupName', group.podGroupName ?? '')
}
