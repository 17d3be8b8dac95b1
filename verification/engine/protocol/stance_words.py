"""The words by which a judge's prose blames or passes the work, as tables of patterns.

Each entry is a regular expression for one way to say it. Blame is listed apart from what takes
its force away: a negation, a condition, a fault that is resolved, or one that somebody else has.
"""

from __future__ import annotations

import re

WORK = (
    r"(?:work|output|submission|report|summary|document|deliverable|answer|change|patch|code|solution|implementation|result|text|draft|article|translation|plan"
    r"|note|memo|letter|essay|response|version|file|agent|author)"
)
CRITERION = (
    r"(?:rules?|criteri\w+|requirements?|conditions?|constraints?|brief|contract|task|specification|spec|assignment|ticket|guidelines?|policy|acceptance|r\d{1,3}"
    r"|limit|threshold|instructions?)"
)

VERDICT_NAMES = (
    r"pass\s?/\s?fail", "result", "outcome", "verdict", "status", "conclusion", "decision", "assessment", "evaluation", r"judge?ment", "ruling", "recommendation",
    "grade", "vote", "bottom line", "upshot", "impression", r"overall(?: \w+)?", "correction", "acceptance(?: criteria)?", r"(?:quality )?gate", "final answer",
    "ergebnis", "urteil", r"gesamt\w+", "fazit", "entscheidung", r"r[eé]sultat", r"d[eé]cision", r"resultado(?: final)?", "veredicto", "veredito", r"conclusi[oó]n",
    r"conclus[aã]o", "esito", "risultato", "giudizio", "verdetto", "итог", "вердикт", "результат", "решение", "结论", "结果", "判定", "总体", "結論", "結果", "総合判定",
)  # fmt: skip
"""What a judge calls its verdict on the whole work."""

BAD_WORDS = (
    r"fail(?:ed|s|ure|ing)?", r"reject(?:ed|ion|s)?", r"refus(?:ed|al|[eé]e?)", "disapproved", "declined", "violated", "breached", "broken", "unmet", "unsatisfied",
    "unsatisfactory", "unsuccessful", "unacceptable", "insufficient", "inadequate", "inadmissible", r"non[- ]?compliant", "blocked", "incomplete", "unfit", r"(?:does|do|did)(?:n[’']t| not) pass", r"no[- ]go", "against", "denied",
    "void", r"not?\W{1,3}(?:yet\W{1,3})?(?:(?:a )?pass(?:ed|ing)?|met|satisfied|fulfilled|accepted|acceptable|approved|ok(?:ay)?|good enough|compliant|accomplished|ready"
    r"|sufficient|complete|verified)", "thumbs down", r"request(?:ing)? changes", "changes requested", r"needs? (?:work|rework|revision|changes)",
    r"do(?:n[’']t| not) (?:merge|accept|approve|deploy|release|ship|pass|commit|publish)",
    r"nicht (?:bestanden|erf[uü]llt|akzeptiert|angenommen|akzeptabel)", "durchgefallen", "abgelehnt", r"zur[uü]ckgewiesen", "mangelhaft", r"ungen[uü]gend", "verletzt",
    r"[eé]chec", r"[eé]chou[eé]e?", r"rejet[eé]e?", "non conforme", r"non (?:valid[eé]e?|accept[eé]e?|respect[eé]e?|satisfaite?|superat\w|soddisfatt\w|accettat\w)",
    "insuffisante?", r"rechazad[oa]", r"no (?:aprobad[oa]|cumple|superad[oa]|aceptad[oa]|apt[oa])", "suspenso", r"reprovad[oa]", r"rejeitad[oa]",
    r"n[aã]o (?:aprovad[oa]|cumprid[oa]|atende|aceit[oea])", r"respint[oa]", r"bocciat[oa]", r"не (?:принят\w*|пройден\w*|выполнен\w*|соответствует|зачтено)",
    r"отклон[её]н\w*", r"провал\w*", "不通过", "未通过", "不合格", "不接受", "拒绝", "驳回", "失败", "違反", "不符合", "不可", "却下", "不承認", "失格",
)  # fmt: skip
"""What such a verdict says where the work did not pass."""

GOOD_WORDS = (
    r"pass(?:ed|es)?", "merge", "publish", "positive", "thumbs up", "accept(?:ed)?", "approved?", "satisfied", "met", "success(?:ful)?", "ok", "conforme", "bestanden", "angenommen", r"accept[eé]e?", r"valid[eé]e?", r"aprobad[oa]",
    r"aprovad[oa]", r"superat[oa]", "принято", "通过", "合格",
)  # fmt: skip

BAD_MARK = r"[✗✘❌☒👎🚫⛔🔴🛑]"

EXPLICIT = (
    # A rule or criterion that does not hold.
    rf"\b{CRITERION}\b[^.;!?]{{0,70}}?\b(?:is|are|was|were|been|isn[’']t|aren[’']t|remains?|stays?)\b[^.;!?]{{0,25}}?\b(?:violated|unmet|unsatisfied|unfulfilled|broken"
    r"|breached|infringed|flouted|not\b[^.;!?]{0,20}?\b(?:met|satisfied|fulfilled|respected|followed|done|dealt|obeyed|kept|observed))",
    rf"\b{CRITERION}\b[^.;!?]{{0,70}}?(?:not|n[’']t)\W{{1,3}}(?:been\W{{1,3}})?(?:hold|met|satisfied|fulfilled|accomplished|kept|respected)\b",
    rf"\b{CRITERION}\b[^.;!?]{{0,40}}?\b(?:violated|breached|unmet|unfulfilled)\W{{0,6}}$",
    rf"\b(?:violates|breaches|contravenes|infringes|flouts|breaks|in breach of|violation of|falls short of)\b[^.;!?]{{0,60}}?\b{CRITERION}\b",
    rf"\b{WORK}\b[^.;!?]{{0,30}}?\b(?:fails?|failed|falls? short|does(?:n[’']t| not) pass|did(?:n[’']t| not) pass|has(?:n[’']t| not) passed)\b(?<!\ba failed)(?<!\bthe failed)(?<!\bany failed)"
    r"(?! (?:to load|with|when|if))",
    r"\b(?:it|this) (?:fails|failed|falls short)\b(?! (?:with|when|if|as|for))",
    r"\bthat[’']s a (?:violation|fail|clear miss)\b",
    rf"\bfail(?:s|ed)? (?:the|this|that|its|one|two|on|rule)\b[^.;!?]{{0,30}}?(?:\b{CRITERION}\b|$)",
    r"\b(?:do(?:es)?|did)(?:n[’']t| not)\b[^.;!?]{0,25}?\b(?:meet|satisfy|fulfil\w*|comply|conform|qualify|adhere|respect)\b",
    rf"\bcontrary to (?:the |its |this )?{CRITERION}",
    r"\bcontradicts its source\b",
    rf"\b{WORK}(?: product)?\b[^.;!?]{{0,20}}?\b(?:is|was|has been|are)(?:n[’']t| not) (?:\w+ )?(?:approved|accepted|passed|compliant|adequate|acceptable|verified|sufficient)\b",
    rf"\b{WORK}(?: product)?\b[^.;!?]{{0,20}}?\b(?:is|was) (?:\w+ )?(?:a fail(?:ure)?|rejected|refused|declined|disapproved|inadequate|non-?compliant)\b",
    r"\b(?:judge?ment|verdict) (?:is|was) (?:\w+ )?negative\b",
    r"\bfail the (?:submission|work|run|output)\b",
    r"\b(?:must|have to|regret that i must) turn (?:it|this) down\b",
    r"\brefuse to (?:pass|accept|approve)\b",
    r"\band fails\W*$",
    r"\bshould(?: not|n[’']t) pass\W*$",
    rf"\b{CRITERION}(?: \w{{1,3}})?\b[^.;:!?,]{{0,15}}?\b(?:fails|is broken|broken|does not(?: hold)?|doesn[’']t(?: hold)?|was not reached|missed)\W*$",
    r"\b(?:a|clear) breach of\b",
    rf"\bwhich (?:the |its )?(?:\w+ )?{CRITERION} (?:explicitly |clearly )?(?:forbids?|prohibits?|rules? out)\b",
    rf"\bonly \w+ (?:out )?of (?:the )?\w+ {CRITERION} (?:are|is) (?:satisfied|met)\b",
    rf"\b(?:ignored|disregards?|did violate|has failed)\b[^.;!?]{{0,15}}?\b{CRITERION}\b",
    r"\br\d{1,2}\W{1,3}failed\b",
    r"\bfailed_rules\W{1,4}\[\W{0,2}\w",
    r"\b(?:not|n[’']t) deserve (?:a |to )?pass",
    r"\b(?:rules out a|gets no|no) pass\b",
    r"\brecommend (?:against|reject)\w*",
    r"\bhas to (?:start over|be rebuilt|be redone)\b",
    r"\b(?:cannot|can[’']t) (?:be regarded as met|satisfy)\b",
    r"\b(?:verdict|pass|approval) (?:is )?withdrawn\b",
    r"\bshould not have (?:marked|passed)\b",
    r"\bmeans rejection\b",
    r"\bi judge the work as fail",
    r"\bfailing\W*$",
    r"\bshould be turned down\b",
    r"\bhence not passed\b",
    r"\bwork (?:itself )?is not (?:correct|right|complete)\b",
    r"\brecommend that (?:it|this) (?:be )?(?:rejected|redone)\b",
    # A decision against the work.
    rf"(?:^\W*|\b(?:{WORK}|it|this|that|which|therefore|so|thus|hence|and)\W+(?:\w+\W+){{0,2}}?)(?:must|should|has to|have to|needs? to|ought to|is to|had to) be (?:\w+ )?(?:rejected|refused|redone|rewritten|reworked|treated as (?:a )?fail\w*|sent back|stopped"
    r"|failed|declined|corrected|false|discarded|withdrawn|asked to (?:correct|redo|fix|try))\b",
    r"\b(?:can[’']?t|cannot|can not|couldn[’']t|may not|must not|mustn[’']t|should not|shouldn[’']t|won[’']t|will not|wouldn[’']t|do not|don[’']t|unable to|irresponsible to"
    r"|wish i could|isn[’']t safe to|not safe to|obliged to not) (?:\w+ ){0,5}?(?:accept|accepted|acceptance|approve|approved|approval|pass (?:it|this|the)|(?:have |be )passed|be (?:merged|deployed|released|shipped)"
    r"|(?:merge|deploy|release|ship) (?:it|this|that)|sign (?:this|it|that|off)|recommend|confirm (?:the|this)|uphold|certify|endorse|be sent|run this|be trusted|call this|agree|reconcile"
    r"|consider (?:the|this)|let this|let through|go out|(?:think|believe) (?:that )?this|regard (?:this|that|it) as)\b",
    rf"\bnot (?:consider|think|believe)\b[^.;!?]{{0,30}}?\b(?:{CRITERION}|satisfied|qualif\w+|acceptable|met)\b",
    r"\bi(?:[’']d| must| have to| would| will|[’']ll| do| therefore| hereby| can only)? (?:reject|fail (?:this|it|the)|disapprove|object|vote (?:against|no)|side against|advise against"
    r"|ask for a new|request changes)\b",
    r"\b(?:agent|author|executor|worker|someone|somebody)\b[^.;!?]{0,25}?\b(?:should|must|needs? to|has to|ought to) (?:\w+ )?(?:try again|redo|have (?:asked|been)|correct|fix|rewrite"
    r"|revise|rework|look at this again|be asked)\b",
    r"\b(?:needs?|requires?) (?:a |another |some |major |further |thorough )?(?:rework\w*|revision|redoing|rewrite|overhaul|another attempt|more work)\b",
    r"\bi (?:would|[’']?d|must|have to) (?:send (?:this|it) back|return (?:this|it)|mark (?:this|it) as (?:a )?(?:fail|failed|violated))\b",
    r"\b(?:i )?(?:won[’']t|can[’']t|cannot|can not) (?:let (?:this|that|it)|see (?:it|this) passing)\b",
    r"\b(?:come|comes|came) down against\b",
    r"\bnot (?:persuaded|convinced) that\b",
    r"\b(?:not|non-?) ?compliant with\b",
    r"\b[1-9]\d* (?:rules? )?violated\b",
    r"\boverall fail\b",
    r"\bblocking issues?\b(?!:? ?(?:none|no\b|0))",
    rf"\b{WORK} is (?:hereby |therefore )?refused\b",
    r"\b(?:mustn[’']t|must not|may not|should not|shouldn[’']t|cannot|can[’']t) go (?:live|out|in)\b",
    r"\b(?:isn[’']t|is not|not) (?:yet )?ready\b",
    r"\bno pass\b",
    r"\bdon[’']t use (?:it|this)\b",
    r"\bmisunderstood the (?:task|question|brief)\b",
    r"\bought to (?:fail|be failed)\b",
    r"\bthis is (?:therefore |thus |clearly )?a (?:clear )?fail\b",
    r"\b(?:no[- ]go|thumbs down|send (?:it|this) back|return to (?:the )?author|requesting changes|do not merge|not good enough|unfit for|unacceptable|unusable|inadmissible|disapproved"
    r"|disqualif\w+|half[- ]finished|not (?:acceptable|passing|ready for|release-ready|fit for|safe to (?:run|merge|deploy|release)|be let through)|rejected because"
    r"|serious (?:objections?|defects?|problems?|flaws?)|fatal (?:flaw|error)|irresponsible to|marking (?:this|it) (?:down )?as (?:unmet|failed|violated)|not accepted\W*$|so much for (?:that|the) rule"
    r"|(?:pass|approval|acceptance) isn[’']t justified|verdict as withdrawn|side against the work|incomplete deliverable|task not accomplished)\b",
)
"""Says outright that the work or a rule fails, or what must become of the work."""

RETRACTIONS = (
    r"\bi (?:must |have to |need to |want to |hereby |do )?(?:take (?:that|it|this|my \w+) back|retract|withdraw (?:my|the) (?:pass|verdict|approval|answer)|revoke|correct myself|need to revise"
    r"|change my (?:mind|verdict)|revise my verdict)\b",
    r"\b(?:disregard|ignore|scratch|forget|never mind)\b[^.!?]{0,30}\b(?:above|json|object|passed|verdict|my answer|earlier)\b", r"\bscratch that\b", r"\boverrid(?:e|ing) my\b",
    r"\bi was (?:wrong|mistaken|too lenient)\b", r"\b(?:verdict|object|json|answer|pass)(?: above)? (?:is|was) (?:wrong|premature|mistaken|a mistake|an error|incorrect)\b",
    r"\bshould (?:be|have been|read|say)\W{0,6}false\b", r"\bverdict ought to\b", r"\bcan[’']?t uphold\b", r"\bcorrect answer is\b[^.!?]{0,30}\bfalse\b",
    r"\b(?:retraction|no longer (?:represents|reflects) my)\b", r"\bcorrection to (?:the|my) (?:field|verdict|json|object|answer)\b", r"\bpassed\W{0,3}(?:=|:|must be|must read|is|to)\W{0,3}(?:false|no)\b",
    r"\b(?:correct|right|real|actual|true) verdict\W{1,4}(?:is\W{1,3})?(?:false|fail|no\b)", r"\bi spoke too soon\b",
    r"\b(?:was|were) not meant to (?:be )?pass", r"\bnehme (?:mein|das|die|den)\b[^.!?]{0,30}\bzurück\b", r"\bje (?:me suis tromp|retire|reviens sur)", r"\bme (?:equivoqu|retracto)", r"\brectifico\b",
    r"\bmi correggo\b", r"\bya (?:не прав|ошиб)", "更正", "訂正します",
)  # fmt: skip
"""Takes the verdict back."""

DEFICITS = (
    r"\b(?:is|are|was|were|remains?|isn[’']t|aren[’']t|has been|have been)(?:\W+(?:also|still|plainly|clearly|simply|just|all|therefore|thus|both|completely|entirely|partly|far|now|evidently"
    r"|obviously|frankly)){0,2}\W+(?:missing|lacking|absent|wrong|incorrect|false|untrue|inaccurate|invented|fabricated|made up|hallucinated|unsupported|unfounded|misleading|flawed|deficient"
    r"|meaningless|nonsense|plagiari[sz]ed|unusable|insufficient|incompatible|hollow|useless|mixed up|a lie|a disaster|a clear miss|omitted|disregarded|still there|unresolved"
    r"|out of date|copied|lifted|transposed)\b",
    r"\b(?:isn[’']t|aren[’']t|wasn[’']t|weren[’']t|is not|are not)\W+(?:there|right|true|complete|provided|delivered|supported|in the (?:source|interview|text|material)|named|faithful|okay|ok"
    r"|fine|signed|safe|acceptable|dealt with)\b",
    r"\b(?:omits|forgot the|leaves out|ignored (?:half|the (?:instruction|rule|brief|task))|misstates|misquotes|misrepresents|invents|fabricates|defeats the purpose|guessed wrong"
    r"|got (?:it|this) wrong|mixes up|hides that|lacks (?:a|the|any)|exceeds the (?:limit|maximum|word))\b",
    r"\b(?:do(?:es)?|did)(?:n[’']t| not)\W+(?:exist|appear (?:anywhere|in)|compile|add up|do what|deliver|entitle|stand\b|reflect|correspond|answer the question)",
    r"\b(?:can|could)(?:n[’']t|not| not)\b[^.;!?]{0,20}\b(?:be (?:found|traced|relied|used)|find (?:any |no )?(?:evidence|support))",
    r"\bi can find no evidence\b",
    r"\bno (?:evidence|basis|support|source) for\b",
    r"\bthere[’']?s no (?:way to know|substance)\b",
    r"\bnothing in this output\b",
    r"\bnothing (?:to hold (?:it|them) up|will run)\b",
    r"\b(?:proof|date|title|appendix|source) is lacking\b",
    r"\bfabricated\b\W*$",
    r"\bnowhere (?:in|to be found)\b",
    r"\bappears? nowhere\b",
    r"\bstands? nowhere\b",
    r"\bhas a (?:hole|fatal|serious)\b",
    r"\bnever took place\b",
    r"\bachieves the opposite\b",
    r"\bis a (?:fatal|serious) \w+",
    r"\bsloppy\b",
    r"\brules out sending\b",
    r"\b(?:two|three|four|five|several|many|some|half|\d+) of (?:the |these |them|those |its )?[^.!?]{0,30}?\b(?:are|were) (?:wrong|violated|missing|broken|out of date|invented)",
)
"""Says that something is wrong with the work, without saying what follows."""

NEGATORS = (
    "no", "none", "nothing", "never", "neither", "nor", "without", "zero", "0", "nobody", "hardly", "free of", "not (?:a|one|any)(?: single)?", r"(?:isn|aren)[’']t any", r"can[’']t fault",
    r"(?:don[’']t|do not) see", r"did(?:n[’']t| not) (?:find|see)", r"(?:could|can)(?:n[’']t|not| not) (?:find|see|discover|detect)", "rather than", "instead of", "and not", "not just", "far from",
)  # fmt: skip
NEGATED_BLAME = (
    r"(?:\bnot|n[’']t|\bnever)(?: \w+){0,2} (?:violated?|violates|break|broken|breached|missing|wrong|incorrect|false|unsupported|misleading|fail\w*|copied|invented|omitted|left out|an error"
    r"|a mistake|contradict\w*|lacking|reject\w*|hesitate)",
)
"""Blame that is itself denied."""
CONDITIONALS = (
    "if", "whether", "unless", "when", "whenever", r"had (?:it|the|there|any|i)\b", "would", "were it", r"should (?:the|it|any)\b", "in case", "to see", "suppose", "otherwise", "any", "possible",
    "potential", "might", "could have", r"(?:search|look|check)(?:ed|ing|s)?(?: for| that| whether)", "asked (?:myself|whether)", r"tempt\w*", "worried", r"concern(?:ed)? that", "could be called",
)  # fmt: skip
RESOLVED = (
    r"previous(?:ly)?", "earlier", "at first", r"first (?:glance|sight|thought|pass|draft|version|run|attempt)", "initially", "originally", "used to", "formerly", r"before(?:hand)?", "fixed", "repaired",
    "resolved", "old", "seemed", "looked like", "appeared", "no longer", "by now", "baseline", "expected", "intended", "by design", r"deliberate\w*", "on purpose",
    r"as (?:required|requested|documented|prescribed|intended|expected|it should|asked)", "which is (?:right|correct|fine|what|as)", "harmless", "a matter of taste", "does not affect", "irrelevant",
    r"not (?:asked|demanded|required)", "permitted", "rightly", "correctly", "of course", "minor", "cosmetic", "optional", "nit", "explain(?:s|ed)", "thought",
)  # fmt: skip
ATTRIBUTION = r"(?:says|argues|states|claims|concludes|recommends|reports|notes|suggests|describes|writes|complains|alleges|believes|demands|requires|prescribes|rules? (?:say|demand|require)) "
"""What follows is somebody else's statement, or the rule's."""
REPORTED = (
    "says?", "stated?s?", "describes?", "mentions?", "reports?", "reported", "lists?", "documents?", "names?", "covers?", "discusses", "notes", r"apologi[sz]es", "warns?", "claims?", "argues", "expects?",
    "asserts?", "tests?", "handles?", "raises?", "returns?", "logs?", "catches", "rejects?", "refuses?", "blocks?", "forbids?", "detects?", "flags?", "covered", "shows? that", "recommends?", "counts?",
    "records?", "means", "stands for", "holds", "exits?", "gives", "prints?", "retries", "called", "marked", "example", "sample", "bug", "complaint", "incident", "outage", "users?", "customers?", "request",
    "server", "database", "password", "inputs?", "signature", "job", "connection", "network", "history", "code[s]?:", "ruling", "court",
)  # fmt: skip

RELENTING = (
    r"\bi (?:must |have to |hereby |do |therefore )?(?:withdraw|retract|take back|drop|reverse) (?:my|the|that|this|what i) (?:objections?|fail|complaint|criticism|verdict|reject\w*|decision|said)\b",
    rf"\b{WORK}\b[^.;!?]{{0,20}}?\b(?:(?:passes|does pass|should (?:have )?pass(?:ed)?|deserves to pass|is (?:to be )?(?:accepted|approved|acceptable))(?: after all| now)?\W*$"
    rf"|(?:passes|fulfils|meets|satisfies) (?:the {CRITERION} in every|verification|review|all|every|each)\b|can go out)",
    r"\b(?:must|should|ought to|has to) be (?:accepted|approved|passed|a pass)\b",
    r"\btreat this as (?:accepted|passed|a pass)\b",
    r"\beverything is satisfied\b",
    rf"\b(?:all (?:of )?(?:the )?(?:\w+ )?|the acceptance ){CRITERION} are (?:met|satisfied|fulfilled)\b",
    r"\bno (?:violations?|issues?|problems?|errors?) (?:was|were)? ?found\b",
    r"\bship it\b",
    r"\bno reason to reject\b",
    r"\bshould (?:be|have been|read|say)\W{0,6}(?:true|positive)\b",
    r"\bought to be\W{0,6}true\b",
    r"\bfield\W{1,8}passed\W{0,3}\w* ?is true\b",
    r"\bpassed\W{0,3}(?:=|:|must be|must read|is|to)\W{0,3}(?:true|yes)\b",
    r"\bit[’']s fine\W*$",
    r"\berfüllt alle\b",
    r"\brespecte (?:toutes|chaque)\b",
    r"\btoutes les règles sont respectées\b",
    r"\bdebe aprobarse\b",
    r"\bdeve ser aprovad",
    r"\bva approvat[oa]\b",
    r"\bработа принята\b",
    "(?<!不)合格です",
    "应判为通过",
)
"""Passes the work after all."""

OTHER_LANGUAGES = {
    "de": (
        (
            r"nicht (?:erfüllt|bestanden|eingehalten|akzeptabel|verwendet werden|angenommen werden|freigegeben)",
            r"\berfüll\w*\b[^.!?]{0,60}\bnicht\b",
            r"\b(?:ist|wird|wurde) verletzt",
            r"\bverstößt\b",
            "abzulehnen",
            "abgelehnt werden",
            "zurückgewiesen",
            r"\bstimm(?:t|en) nicht\b",
            r"\berfunden\b",
            r"\b(?:fehlt|fehlen)\b",
            r"\bmuss\b[^.!?]{0,30}\b(?:überarbeitet|korrigiert|nachgebessert)",
            "widerspricht",
            "sinnentstellend",
            r"\bfalsch\b",
            "unzureichend",
            "durchgefallen",
        ),
        (
            r"\bkein\w*\b",
            r"\bnichts\b",
            r"\bhätte\b",
            r"\bwäre\b",
            r"\bwürde\b",
            r"\bob\b",
            r"\bwenn\b",
            r"\bfrüher\w*\b",
            r"\bzuvor\b",
            r"\bzunächst\b",
            r"\bweder\b",
            r"\bniemand\b",
            r"\bnicht verletzt\b",
            r"\bohne\b",
            "behoben",
            r"\bschien\b",
            r"\bfalsche[snmr]? (?:Passw|Eingab|Kennw)",
            r"\bwiderspricht nicht\b",
        ),
    ),
    "fr": (
        (
            r"\bil manque\b",
            r"\bà refaire\b",
            r"\bdoit être (?:rejet|refus|revu|corrig|refait)",
            r"n[’']est (?:donc )?pas (?:respect|rempli|conforme|recevable|satisf|fid|accept|valid)",
            r"\bne (?:respecte|satisfait|correspond|remplit"
            r"|peux|peut|saurait)\b[^.!?]{0,40}\b(?:pas|approuver|accepter|valider)\b",
            r"\bcontredit\b",
            r"\b(?:inventée?s?|erronée?s?|fausses?|faux)\b",
            r"\bn[’']existe pas\b",
            r"\bomet\b",
            r"\bnon respectée?\b",
        ),
        (
            r"\baucune?\b",
            r"\brien\b",
            r"\bne manque\b",
            r"\bsans\b",
            r"\bparaissai\w*\b",
            r"\bsemblai\w*\b",
            r"\bau premier abord\b",
            r"\bsi\b",
            r"\bavai\w*\b",
            r"\bni\b",
            r"\baurai\w*\b",
            r"\bcorrectement\b",
        ),
    ),
    "es": (
        (
            r"\bno (?:se )?(?:cumple\w*|es aceptable|debe aprobarse|puede (?:aprobarse|aceptarse)|existe|coincide|corresponde)\b",
            r"\b(?:falta|faltan)\b",
            r"\b(?:debe|hay que)\b[^.!?]{0,20}\brechaz\w*",
            r"\binventad[oa]s?\b",
            r"\bcontradice\b",
            r"\bincorrect[oa]s?\b",
            r"\bers?róne[oa]s?\b",
            r"\binfringe\b",
            r"\bincumple\b",
        ),
        (
            r"\bno (?:falta|inventa|contradice|incumple|infringe)\b",
            r"\bninguna?\b",
            r"\bningún\b",
            r"\bnada\b",
            r"\bsin\b",
            r"\bcorrectamente\b",
            r"\bantes\b",
            r"\bhabría\b",
            r"\bsi\b",
            r"\bparecía\b",
            r"\bni\b",
            r"\bcontraseñ",
        ),
    ),
    "pt": (
        (
            r"\bnão (?:foi |é |está )?(?:cumprid[oa]|cumpre|aceitável|atende|corresponde|existe|pode ser)\b",
            r"\bfalta\b",
            r"\bdeve ser rejeitad[oa]\b",
            r"\binventa(?:m|ram)? (?:uma?|os?|as?)\b",
            r"\berrad[oa]s?\b",
            r"\bcontradiz\b",
            r"\bviola(?:da)?\b",
        ),
        (
            r"\bnão (?:falta|inventa|contradiz|viola)\b",
            r"\bnenhuma?\b",
            r"\bnada\b",
            r"\bsem\b",
            r"\bcorretamente\b",
            r"\bantes\b",
            r"\bteria\b",
            r"\bse\b",
            r"\bparecia\b",
            r"\bnem\b",
        ),
    ),
    "it": (
        (
            r"\bnon (?:è |viene )?(?:rispettat[oa]|soddisfatt[oa]|accettabile|corrispond\w+|posso approvar\w+|esiste|conforme)\b",
            r"\bmanca(?:no)?\b",
            r"\bva (?:respint[oa]|rifatt[oa]|rivist[oa])\b",
            r"\bviolata\b",
            r"\binventat[oa]\b",
            r"\bil contrario di\b",
            r"\bsbagliat[oa]\b",
            r"\bcontraddice\b",
        ),
        (
            r"\bnon (?:manca|contraddice|inventa|viola)\w*\b",
            r"\bnessun[oa]?\b",
            r"\bniente\b",
            r"\bsenza\b",
            r"\bcorrettamente\b",
            r"\bprima\b",
            r"\bse\b",
            r"\bsembrava\b",
            r"\bné\b",
        ),
    ),
    "ru": (
        (
            r"\bне (?:выполнен\w*|соответству\w*|принят\w*|пройден\w*|соблюд\w*)\b",
            r"\bнаруш[а-я]*\b",
            r"\bотклон(?:ить|ена|ён|ено)\b",
            r"\bотсутству\w*\b",
            r"\bвыдуман\w*\b",
            r"\bгрубая ошибка\b",
            r"\bпротиворечит\b",
        ),
        (
            r"\bни (?:одн|одно|в чём)",
            r"\bне нарушен\w*\b",
            r"\bне противоречит\b",
            r"\bнет\b",
            r"\bбез\b",
            r"\bесли\b",
            r"\bраньше\b",
            r"\bказал\w*\b",
            r"\bникак\w*\b",
            r"\bне обнаруж\w*\b",
            r"\bне наш\w*\b",
        ),
    ),
    "zh": (
        (
            "不(?:通过|合格|符合|满足|能接受|应判|可接受)",
            "未(?:通过|满足|达到|满)",
            "违反",
            "编造",
            "相矛盾",
            "(?:应|必须|予以|应予|需)(?:退回|驳回|拒绝)",
            "缺少",
            "缺失(?!值)",
            "有误",
            "捏造",
        ),
        (
            "没有(?:发现|任何)?",
            "未发现",
            "并未",
            "不存在",
            "之前",
            "曾",
            "如果",
            "是否",
            "已修",
            "不违反",
            "不缺",
            "无(?:任何|需|误)",
            "正确",
            "并无",
            "不相矛盾",
        ),
    ),
    "ja": (
        (
            "受け入れられ",
            "満たして(?:いない|いません|おらず)",
            "違反",
            "間違って",
            "不合格",
            "差し戻し",
            "却下",
            "矛盾して(?:いる|います)",
            "とは言えません",
            "捏造",
            "日付がありません",
        ),
        (
            "見つかりません",
            "ありませんでした",
            "なかった",
            "以前",
            "最初",
            "ように見え",
            "違反する点は",
            "問題は",
            "適切",
            "修正され",
            "違反(?:は|し(?:て(?:いない|いません)))",
            "矛盾(?:は|し(?:ない|ません))",
        ),
    ),
    "ko": (("불합격", "위반했", "위반하였", "충족하지 (?:않|못)", "반려"), ("없", "않았")),
    "nl": (
        (
            r"\bvoldoet niet\b",
            r"\bafgekeurd\b",
            r"\bafgewezen\b",
            r"\bgeschonden\b",
            r"\bontbre(?:ekt|ken)\b",
        ),
        (r"\bgeen\b", r"\bniets\b", r"\bals\b", r"\beerder\b", r"\bniet geschonden\b"),
    ),
}
"""Blame and what takes its force away, by language."""

DOUBTING = re.compile(
    r"\b(?:cannot|can['’]?t|unable|sorry|unsure|uncertain|unclear|unknown|inconclusive|maybe|may"
    r"|perhaps|might|should|must|would|could|please|whether|however|but|although|except|if|unless"
    r"|provided|depend\w*|condition\w*|reserv\w*|partial\w*|partly|mostly|almost|nearly|somewhat"
    r"|refus\w*|as an ai|aber|mais|pero|però|mas|но)\b"
    r"|[?？]|但|しかし",
    re.IGNORECASE,
)
"""Hedges a statement, or takes a part of it back."""


def any_of(patterns: tuple[str, ...], *, words: bool = False) -> re.Pattern[str]:
    """Compile the alternatives; `words`: each is a whole word or phrase."""
    joined = "|".join(patterns)
    return re.compile(rf"\b(?:{joined})\b" if words else joined, re.IGNORECASE)
