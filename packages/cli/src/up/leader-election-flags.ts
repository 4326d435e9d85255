import type { ClusterOptions } from '@coracle/cluster'
import { CliError } from '../cli-error.ts'

/** Upstream's flags of the same names, in milliseconds. */
export interface LeaderElectionFlags {
  readonly leaderElectLeaseDuration: number
  readonly leaderElectRenewDeadline: number
  readonly leaderElectRetryPeriod: number
}

/** How servers that share their objects agree on who leads. Throws a CliError where the times do not fit together. */
export function leaderElectionOf(flags: LeaderElectionFlags): Pick<ClusterOptions, 'leaderElection'> {
  const { leaderElectLeaseDuration, leaderElectRenewDeadline, leaderElectRetryPeriod } = flags
  if (leaderElectLeaseDuration <= leaderElectRenewDeadline) {
    throw new CliError('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline')
  }
  if (leaderElectRenewDeadline <= 1.2 * leaderElectRetryPeriod) {
    throw new CliError('--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period')
  }
  return {
    leaderElection: {
      leaseDurationMs: leaderElectLeaseDuration,
      renewDeadlineMs: leaderElectRenewDeadline,
      retryPeriodMs: leaderElectRetryPeriod,
    },
  }
}
