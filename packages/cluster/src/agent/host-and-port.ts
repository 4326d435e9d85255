/** What is dialled for a URL of HTTPS: `[::1]` without its brackets, and the port that none stands for. */
export function hostAndPort(url: string): { readonly address: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { address: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) }
}
