// The form of the URLs in the content (ContentParts 14.1.1).

import { isIPv6 } from 'node:net'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const LONGEST_NAME = 253
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const HTTPS = `https://(?:(?<name>(?:${LABEL}\\.)*(?=[a-z])${LABEL})|${BYTE}(?:\\.${BYTE}){3}|\\[(?<v6>[0-9a-f:]+)\\])`
const LOCAL = 'http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])'
const FORM = new RegExp(
  `^(?:${HTTPS}|${LOCAL})(?::(?<port>[1-9][0-9]{0,4}))?(?:/(?:[A-Za-z0-9\\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*)?$`,
)

/** Whether this is a URL of at most so many bytes, by https or, for a rehearsal, by http to the local machine. */
export function isURL(text, longest) {
  const { groups } = (typeof text === 'string' && text.length <= longest && FORM.exec(text)) || {}
  return groups !== undefined && (groups.name ?? '').length <= LONGEST_NAME && Number(groups.port ?? 1) <= 65535 &&
    (groups.v6 === undefined || isIPv6(groups.v6))
}
