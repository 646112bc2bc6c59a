// Visible text, and the alert in the clear (Specification 4.7, 2.2).

// 4.7. Unicode's properties differ between versions of Node, so they don't decide.
const INVISIBLE = `
  0000-0020 007F-00A0 00AD 034F 061C 1039 115F-1160 1680 17B4-17B5 17D2 180B-180F 1A60 1BAB 2000-200F 2028-202F
  205F-206F 2800 2D7F 3000 3164 AAF6 FDD0-FDEF FE00-FE0F FEFF FFA0 FFF0-FFFC FFFE-FFFF 10A3F 1107F 11133 113D0 1193E
  11A47 11A99 11D45 11D97 11F42 13430-1345F 16FE4 1BC9D 1BCA0-1BCA3 1D159 1D173-1D17A 1DA7F-1DA80 1DA9B-1DA9F
  1DAA1-1DAAF 1FFFE-1FFFF 2FFFE-2FFFF 3FFFE-3FFFF 4FFFE-4FFFF 5FFFE-5FFFF 6FFFE-6FFFF 7FFFE-7FFFF 8FFFE-8FFFF
  9FFFE-9FFFF AFFFE-AFFFF BFFFE-BFFFF CFFFE-CFFFF DFFFE-E0FFF EFFFE-EFFFF FFFFE-FFFFF 10FFFE-10FFFF
`
const ranges = INVISIBLE.trim().split(/\s+/).map((range) => range.replace(/[0-9A-F]+/g, '\\u{$&}')).join('')
const VISIBLE = new RegExp(`[^${ranges}]`, 'u')
const PARTS = [['body', ''], ['subtitle', 'subtitle-'], ['title', 'title-']]

/** Whether a text has a visible scalar. */
export const isVisible = (text) => VISIBLE.test(text)

/** Returns a plain alert in the form of 2.2, with its parts in order, or undefined if it breaks a rule. */
export function alertOf(value) {
  if (isText(value)) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const made = {}
  for (const [text, prefix] of PARTS) {
    const [key, list] = [`${prefix}loc-key`, `${prefix}loc-args`]
    if ((text in value && key in value) || (list in value && !(key in value))) return undefined
    for (const name of [text, list, key]) if (name in value) made[name] = value[name]
  }
  const hasBody = 'body' in made || 'loc-key' in made
  const fits = Object.entries(made).every(([name, each]) => (name.endsWith('-args') ? areTexts(each) : isText(each)))
  // The others are unknown.
  return hasBody && fits && Object.keys(made).length === Object.keys(value).length ? made : undefined
}

const isText = (value) => typeof value === 'string' && isVisible(value)
const areTexts = (value) => Array.isArray(value) && value.length > 0 && value.every(isText)
