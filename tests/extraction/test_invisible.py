r"""What is not shown is not said: each dress of a hidden box, and a twin that a reader does see."""

import pytest

from reward_functions.extraction.invisible import _may_hide, strip_invisible

BOX = r"\boxed{391}"

HIDDEN = (
    r"""
\phantom{BOX}
\hphantom{BOX}
\label{BOX}
\label {BOX}
\label[x]{BOX}
\index{BOX}
\glossary{BOX}
\nocite{BOX}
\typeout{BOX}
\message{BOX}
\special{BOX}
\invisible{BOX}
\textcolor{white}{BOX}
\textcolor{White}{BOX}
\textcolor[rgb]{1,1,1}{BOX}
\textcolor[rgb]{1.0, 1.0, 1.0}{BOX}
\textcolor[RGB]{255,255,255}{BOX}
\textcolor[HTML]{FFFFFF}{BOX}
\textcolor[gray]{1}{BOX}
\textcolor{#fff}{BOX}
\textcolor{transparent}{BOX}
\texttransparent{0}{BOX}
{\color{white} BOX}
{\color[rgb]{1,1,1} BOX}
{\color[HTML]{ffffff}BOX}
{\transparent{0}BOX}
{\nullfont BOX}
{\fontsize{0}{0}\selectfont BOX}
{\fontsize{0.0pt}{1pt}\selectfont BOX}
\scalebox{0}{BOX}
\scalebox{0}[0]{BOX}
\resizebox{0pt}{0pt}{BOX}
\resizebox{0pt}{!}{BOX}
\style{display:none}{BOX}
\htmlStyle{visibility: hidden;}{BOX}
\sbox0{BOX}
\sbox{\x}{BOX}
\savebox{\x}[3cm]{BOX}
\setbox0=\hbox{BOX}
\newcommand{\x}{BOX}
\def\x{BOX}
\gdef\x{BOX}
\edef\x{BOX}
\DeclareMathOperator{\x}{BOX}
\DeclareRobustCommand{\x}[1]{BOX}
\NewDocumentCommand{\x}{m}{BOX}
\llap{BOX}
\rlap{$BOX$}
\mathclap{BOX}
\hspace{BOX}
\href{BOX}{see}
\hypertarget{BOX}{see}
\cssId{BOX}{see}
\htmlData{x=BOX}{see}
\iffalse BOX \fi
\begin{comment}BOX\end{comment}
\begin{filecontents}BOX\end{filecontents}
\begin{filecontents*}{x.tex}BOX\end{filecontents*}
% BOX
NEWLINE% BOX
NEWLINE  % the answer is BOX
Done. % so BOX
$x$ % BOX
}% BOX
<!-- BOX -->
<!-- BOX
<template>BOX</template>
<TEMPLATE>BOX</TEMPLATE>
<template id="x">BOX
<script>BOX</script>
<script>BOX
<style>BOX</style>
<noscript>BOX</noscript>
<datalist>BOX</datalist>
<title>BOX</title>
<object>BOX</object>
<div hidden>BOX</div>
<div hidden="">BOX</div>
<p style="display:none">BOX</p>
<p style="DISPLAY: NONE">BOX</p>
<p style="visibility: collapse">BOX</p>
<p style="color:white">BOX</p>
<p style="color: #ffffff">BOX</p>
<p style="color: rgb(255, 255, 255)">BOX</p>
<p style="color:transparent">BOX</p>
<font color=white>BOX</font>
<p style="font-size:0">BOX</p>
<p style="font-size: 0.0em">BOX</p>
<p style="opacity:0">BOX</p>
<p style="transform: scale(0)">BOX</p>
<p style="text-indent:-9999px">BOX</p>
<p style="position:absolute;left:-9999px">BOX</p>
<p style="clip: rect(0,0,0,0)">BOX</p>
<p style="clip-path: inset(50%)">BOX</p>
<img alt="BOX" src="x.png">
<a title='BOX'>see</a>
<div data-x="so BOX">see</div>
<input type="hidden" value="BOX">
<meta content="BOX">
![BOX](x.png)
[see](x.html "BOX")
NEWLINE[x]: # (BOX)
NEWLINE[x]: <> "BOX"
\cancel{BOX}
~~BOX~~
<del>BOX</del>
""".replace("BOX", BOX)
    .strip()
    .splitlines()
)

SEEN = (
    r"""
0<5 style="display:none">BOX
\text{BOX}
\tag{BOX}
\smash{BOX}
\underline{BOX}
\mbox{BOX}
\makebox[3cm]{BOX}
\footnote{BOX}
\fbox{BOX}
\textcolor{red}{BOX}
\textcolor[rgb]{1,0,1}{BOX}
\textcolor[rgb]{1,1,0.1}{BOX}
\textcolor[HTML]{FFFF00}{BOX}
\textcolor[gray]{0.1}{BOX}
\textcolor{whitesmoke!50!black}{BOX}
{\color{blue} BOX}
{\color{white} x} BOX
{\fontsize{10}{12}\selectfont BOX}
\transparent{0.9}BOX
\scalebox{0.5}{BOX}
\scalebox{1.0}[0.5]{BOX}
\resizebox{5cm}{!}{BOX}
\style{color:red}{BOX}
\label{eq:1} BOX
\label{eq:1}BOX
\index{x} BOX
\newcommand{\x}{1} BOX
\llap{x} BOX
\sum_{\mathclap{1\le i}} BOX
\hspace{1cm} BOX
\hspace{1cm}BOX
\href{https://x.org}{BOX}
\hypertarget{x}{BOX}
\class{x}{BOX}
\iffalse x \fi BOX
\begin{comment}x\end{comment} BOX
\begin{center}BOX\end{center}
50% BOX
50 % BOX
50\% BOX
100%, so BOX
It rose by 5%. So BOX
n % 7 is BOX
% noteNEWLINEBOX
A share of x% is BOX
In 2019, % change is BOX
<b>BOX</b>
<div>BOX</div>
<p style="color:red">BOX</p>
<p style="color:#fff000">BOX</p>
<p style="background-color:white">BOX</p>
<p style="overflow:hidden">BOX</p>
<p aria-hidden="true">BOX</p>
<p style="font-size:0.9em">BOX</p>
<p style="opacity:0.9">BOX</p>
<p style="transform: scale(0.5)">BOX</p>
<p style="left:-5px">BOX</p>
<template>x</template> BOX
<input type="hidden" value="x"> BOX
<img alt="x"> BOX
<object> is a tag, so BOX
<script>x</script> BOX
x <y and BOX > 3
a <b = "c" and BOX
[0,1](x "y) BOX
[see](x.html) BOX
[see](so BOX)
![x](x.png) BOX
[A]: BOX
<details><summary>x</summary>BOX</details>
<answer>BOX</answer>
""".replace("BOX", BOX)
    .strip()
    .splitlines()
)


def written(dress):
    return dress.replace("NEWLINE", "\n")


@pytest.mark.parametrize("dress", HIDDEN)
@pytest.mark.parametrize("before", ["", r"Hence \boxed{6} ", "Hence 5 "])
def test_a_box_that_is_not_shown_is_not_said(dress, before):
    text = before + written(dress)
    if dress.startswith("%"):
        text = text.replace("%", "\n%")
    assert BOX not in strip_invisible(text)
    assert strip_invisible(text).startswith(before)
    assert _may_hide(text)


@pytest.mark.parametrize("dress", SEEN)
@pytest.mark.parametrize("before", ["", r"Hence \boxed{6} ", "Hence 5 "])
def test_a_box_that_is_shown_counts(dress, before):
    assert BOX in strip_invisible(before + written(dress))


CLOSED = [
    each for each in HIDDEN if not each.endswith(BOX) and "%" not in each and "NEWLINE" not in each
]


@pytest.mark.parametrize("dress", CLOSED)
def test_what_follows_a_hidden_box_counts(dress):
    assert strip_invisible(written(dress) + r" so \boxed{6}").endswith(r"so \boxed{6}")


def test_what_follows_the_line_of_a_comment_counts():
    assert strip_invisible(f"Done. % {BOX}\nso 6").endswith("so 6")


def test_a_comment_may_be_the_first_line():
    assert strip_invisible(f"% {BOX}\nso 6").strip() == "so 6"


@pytest.mark.parametrize(
    "code", ["<script>f()</script>", "<title>x</title>", "<style>b {}</style>"]
)
def test_source_code_without_a_box_is_an_answer_that_a_judge_may_read(code):
    assert strip_invisible(code) == code


@pytest.mark.parametrize(
    "text", [r"\fbox{5}", r"\left\{ 1 \right\}", "5% of 20", "[1] and 5!", "%" * 9]
)
def test_what_hides_nothing_is_not_looked_through(text):
    assert not _may_hide(f"So: {text}")


@pytest.mark.parametrize("text", ["\n% 5", r"5. % \boxed{5}", r"\def\a{5}", r"\sbox0{5}"])
def test_what_may_hide_something_is(text):
    assert _may_hide(f"So: {text}")
