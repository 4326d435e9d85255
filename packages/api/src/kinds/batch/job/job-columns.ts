import { humanDuration } from '../../../human-duration.ts'
import { formatSelector } from '../../../selectors.ts'
import { parseTime } from '../../../time.ts'
import { ageColumn, type ColumnSource, column, nameColumn, wideColumn } from '../../columns.ts'
import { containerColumns } from '../../core/pod/pod-template-columns.ts'
import { hasJobCondition } from './job-conditions.ts'
import type { Job } from './job-schema.ts'
import { waitingCondition } from './job-waiting.ts'

/** The columns of `kubectl get jobs` (printers/internalversion printJob). */
export const jobColumns: readonly ColumnSource<Job>[] = [
  nameColumn,
  column('Status', statusText, 'Whether the Job is running, suspended, waiting for others, or over, and how it ended.'),
  column('Completions', completionsText, {
    type: 'string',
    description: 'How many pods have succeeded, of those that must.',
  }),
  column('Duration', durationText, 'Time from its start to its success, or until now.'),
  ageColumn,
  ...containerColumns<Job>(({ spec }) => spec.template),
  wideColumn('Selector', ({ spec }) => formatSelector(spec.selector), { field: 'spec.selector' }),
]

/** A Job that waits for others is told so: upstream has none that do. */
function statusText({ metadata, status }: Job): string {
  if (hasJobCondition(status, 'Complete')) return 'Complete'
  if (hasJobCondition(status, 'Failed')) return 'Failed'
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (hasJobCondition(status, 'Suspended')) return 'Suspended'
  if (hasJobCondition(status, 'FailureTarget')) return 'FailureTarget'
  if (hasJobCondition(status, 'SuccessCriteriaMet')) return 'SuccessCriteriaMet'
  return hasJobCondition(status, waitingCondition) ? 'Waiting' : 'Running'
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`
  const parallelism = spec.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationText({ status }: Job, nowMs: number): string {
  const { startTime, completionTime } = status ?? {}
  if (startTime === undefined) return ''
  return humanDuration((completionTime === undefined ? nowMs : parseTime(completionTime)) - parseTime(startTime))
}
